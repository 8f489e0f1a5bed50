// Keys and windows of a form next to the first one of the screen: that of the second column, or of a linked document.
import { lazy, Suspense, useState } from 'react'
import type { Folding } from '../../fields/folding.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { type KeyPlace, useEditorKeys } from './editor-keys.js'
import { focusAfterClosing, goToError, undoAt } from './focus-path.js'
import { useMeta } from './use-document-form.js'

const PublishDialog = lazy(async () => ({ default: (await import('./publish-dialog.js')).PublishDialog }))
const ScheduleDialog = lazy(async () => ({ default: (await import('./scheduled.js')).ScheduleDialog }))

interface SideForm extends KeyPlace {
  readonly form: DocumentForm
  readonly folding: Folding
  /** Begins the ids of its fields. */
  readonly idPrefix: string
}

/** Gives such a form its keys; returns its actions, and the windows for its publication. */
export function useSideForm({ form, folding, idPrefix, ...place }: SideForm) {
  const [open, setOpen] = useState<'publish' | 'schedule' | null>(null)
  const { view } = useMeta(form)
  const { store, saver } = form
  const close = () => setOpen(null)
  const go = (path: string) => {
    close()
    focusAfterClosing(folding, idPrefix, path)
  }
  const isPublishable = mayPublish(form.type, view)
  const publish = () => setOpen('publish')
  useEditorKeys(
    {
      onSave: () => void saver.save(),
      onPublish: () => (isPublishable ? publish() : void saver.save()),
      onUndo: (isRedo) => undoAt(store, folding, idPrefix, isRedo),
      onError: (isBackwards) => goToError(store, idPrefix, go, isBackwards),
    },
    place,
  )
  const windows = (
    <Suspense>
      {open === 'publish' && <PublishDialog form={form} onClose={close} onGo={go} onLater={() => setOpen('schedule')} />}
      {open === 'schedule' && <ScheduleDialog form={form} onClose={close} />}
    </Suspense>
  )
  return { go, publish, isPublishable, windows }
}
