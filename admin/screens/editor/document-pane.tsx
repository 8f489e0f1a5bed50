// The fields of one document in one language.
import { lazy, Suspense, use, useCallback, useEffect, useMemo } from 'react'
import { DocumentFieldsProvider, documentSection, type Link } from '../../fields/document.js'
import { FieldRows } from '../../fields/field-rows.js'
import type { Folding } from '../../fields/folding.js'
import { useConflict, useRefused, useSaver } from '../../form/hooks.js'
import { useWords } from '../../parts/words.js'
import { mayIn } from '../../server/queries.js'
import type { DocumentForm } from './document-form.js'
import styles from './editor.module.css'
import { focusAfterClosing } from './focus-path.js'
import { LinkedDocumentsContext, openInTab } from './linked-documents.js'
import { PeopleAt } from './presence.js'
import { useMeta } from './use-document-form.js'

const loadConflict = () => import('./conflict.js')
/** The choice between two sides. It is loaded once a form is shown, so that it does not need a network then. */
export const ConflictChoice = lazy(loadConflict)

interface DocumentPaneProps {
  readonly form: DocumentForm
  readonly folding: Folding
  /** Begins the ids of fields. */
  readonly idPrefix: string
  readonly label: string
  /** Next to another form, with the same fields in the same rows. */
  readonly isAligned?: boolean
}

/** The fields of a form. Leaving one saves it. */
export function DocumentPane({ form, folding, idPrefix, label, isAligned = false }: DocumentPaneProps) {
  const { store, type, locale, saver } = form
  const { view } = useMeta(form)
  const { documentId } = useSaver(saver)
  const renderBelow = useCallback((path: string) => <Below form={form} path={path} />, [form])
  const renderAside = useCallback((path: string) => <PeopleAt form={form} path={path} />, [form])
  const show = use(LinkedDocumentsContext)
  useEffect(() => void loadConflict().catch(() => {}), [])
  const openLink = useCallback(
    (link: Link) => {
      const { type: uid, documentId: id } = link
      if (typeof uid !== 'string') return
      const linkLocale = link.locale ?? null
      const onClosed = (closed: Link | null) => store.describeLink({ ...link, ...closed })
      if (show !== null) show({ type: uid, link, name: '', locale: linkLocale, onCreated: () => {}, onClosed })
      // Another tab, since this document may have changes that are not saved.
      else openInTab(uid, id, linkLocale)
    },
    [show, store],
  )
  const createLink = useMemo(() => {
    if (show === null) return
    return (uid: string, name: string, path: string, onCreated: (link: Link) => void) => {
      const onClosed = (created: Link | null) => {
        if (created !== null) store.describeLink(created)
        // The button that opened the panel is gone.
        focusAfterClosing(folding, idPrefix, path)
      }
      show({ type: uid, link: null, name, locale, onCreated, onClosed })
    }
  }, [show, store, locale, folding, idPrefix])
  const fields = type.fields
  const mayUpdate = documentId === null ? (mayIn(type, 'create', locale) ? fields.create : null) : (view?.may.update ?? fields.update)
  const isPublished = view?.published != null
  const context = useMemo(
    () => ({
      ...{ store, type, document: documentId, locale, isPublished, mayUpdate, folding, idPrefix },
      ...{ openLink, createLink, renderBelow, renderAside },
    }),
    [store, type, documentId, locale, isPublished, mayUpdate, folding, idPrefix, openLink, createLink, renderBelow, renderAside],
  )
  const section = useMemo(() => documentSection(type), [type])
  const leave = () => {
    store.pause()
    saver.hurry()
  }
  return (
    <section className={styles.pane} aria-label={label} onBlur={leave}>
      <DocumentFieldsProvider value={context}>
        <FieldRows section={section} isAligned={isAligned} />
      </DocumentFieldsProvider>
    </section>
  )
}

interface BelowProps {
  readonly form: DocumentForm
  readonly path: string
}

/** Under a field: the other side of a conflict, or that the value is not saved. */
function Below({ form: { store }, path }: BelowProps) {
  const words = useWords().editor.saving
  const isRefused = useRefused(store, path)
  const conflict = useConflict(store, path)
  if (conflict !== undefined)
    return (
      <Suspense>
        <ConflictChoice store={store} conflict={conflict} />
      </Suspense>
    )
  return isRefused ? <p className={styles.unsaved}>{words.waiting}</p> : null
}
