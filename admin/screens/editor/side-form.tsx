// Keys and windows of a form next to the first one of the screen: that of the second column, or of a linked document.
import { lazy, type RefObject, Suspense, useCallback, useState } from 'react'
import type { Folding } from '../../fields/folding.js'
import type { PublicationCheck } from './document-actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { keysInside } from './editor-keys.js'
import { focusAfterClosing, goToError, undoAt } from './focus-path.js'
import { useMeta } from './use-document-form.js'

const PublishDialog = lazy(async () => ({ default: (await import('./publish-dialog.js')).PublishDialog }))
const ScheduleDialog = lazy(async () => ({ default: (await import('./scheduled.js')).ScheduleDialog }))

interface SideForm {
  readonly form: DocumentForm
  readonly folding: Folding
  /** Begins the ids of its fields. */
  readonly idPrefix: string
  /** An element in the window of the form, where F8 visits only its errors; absent: F8 of the screen visits both forms. */
  readonly within?: RefObject<Element | null>
  /** As for the window of a publication. */
  readonly onGoIn?: (check: PublicationCheck, attribute: string) => void
}

/** The keys of such a form, its actions, and the windows for its publication. */
export function useSideForm({ form, folding, idPrefix, within, onGoIn }: SideForm) {
  const [open, setOpen] = useState<'publish' | 'schedule' | null>(null)
  const { view } = useMeta(form)
  const { store, saver } = form
  const close = () => setOpen(null)
  const go = useCallback(
    (path: string) => {
      setOpen(null)
      focusAfterClosing(folding, idPrefix, path)
    },
    [folding, idPrefix],
  )
  const isPublishable = mayPublish(form.type, view)
  const publish = () => setOpen('publish')
  const keys = {
    onSave: () => void saver.save(),
    onPublish: () => (isPublishable ? publish() : void saver.save()),
    onUndo: (isRedo: boolean) => undoAt(store, folding, idPrefix, isRedo),
  }
  const ofWindow = {
    onError: (isBackwards: boolean) => goToError([{ form, idPrefix, go }], isBackwards),
    onLanguage: null,
    onPreview: null,
  }
  const onKeyDown = within === undefined ? keysInside(keys) : keysInside({ ...keys, ...ofWindow }, within)
  const windows = (
    <Suspense>
      {open === 'publish' && <PublishDialog form={form} onClose={close} onGo={go} onGoIn={onGoIn} onLater={() => setOpen('schedule')} />}
      {open === 'schedule' && <ScheduleDialog form={form} onClose={close} />}
    </Suspense>
  )
  return { go, publish, isPublishable, onKeyDown, windows }
}
