// The public version next to the draft: its values in fields that cannot be written, with the changes since.
import { useMemo, useState } from 'react'
import { DocumentFieldsProvider, documentSection } from '../../fields/document.js'
import { FieldRows } from '../../fields/field-rows.js'
import { createFolding } from '../../fields/folding.js'
import { useFormState, useValue } from '../../form/hooks.js'
import { createDocumentStore } from '../../form/store.js'
import type { Entry } from '../../form/values.js'
import { State } from '../../parts/state.js'
import { useWords } from '../../parts/words.js'
import { differingAttributes, WordDifference } from './comparison.js'
import { type DocumentForm, shapeOf } from './document-form.js'
import styles from './editor.module.css'
import { useMeta } from './use-document-form.js'
import { textOf } from './word-difference.js'

interface PublishedPaneProps {
  readonly form: DocumentForm
  readonly idPrefix: string
}

/** The public version of a form's document. */
export function PublishedPane({ form, idPrefix }: PublishedPaneProps) {
  const words = useWords().editor
  const { view } = useMeta(form)
  const published = view?.published as Entry | null | undefined
  return published == null ? (
    <p className={styles.soft}>{words.publish.never}</p>
  ) : (
    <section className={styles.pane} aria-label={words.besides.published}>
      <PublishedFields {...{ form, idPrefix, published }} />
    </section>
  )
}

function PublishedFields({ form, idPrefix, published }: PublishedPaneProps & { readonly published: Entry }) {
  const { type, locale, store: draft } = form
  const [folding] = useState(createFolding)
  const store = useMemo(() => createDocumentStore({ shape: shapeOf(type), data: published }), [type, published])
  const differing = useFormState(draft, () => differingAttributes(type, published, draft.get('') as Entry))
  const context = useMemo(
    () => ({
      ...{ store, type, locale, folding, idPrefix, document: null, isPublished: true, mayUpdate: null },
      renderAside: (path: string) => differing.includes(path) && <State state="changed" isQuiet />,
      renderBelow: (path: string) => differing.includes(path) && <Difference form={form} path={path} published={published} />,
    }),
    [store, type, locale, folding, idPrefix, differing, form, published],
  )
  const section = useMemo(() => documentSection(type), [type])
  return (
    <DocumentFieldsProvider value={context}>
      <FieldRows section={section} isAligned />
    </DocumentFieldsProvider>
  )
}

/** The words that the draft has changed. */
function Difference({ form, path, published }: { readonly form: DocumentForm; readonly path: string; readonly published: Entry }) {
  const draft = useValue(form.store, path)
  return (
    <div className={styles.difference} lang={form.locale ?? undefined}>
      <WordDifference before={textOf(published[path])} after={textOf(draft)} />
    </div>
  )
}
