// The second column of the editor: another language to write in, or the public version with the changes since, which cannot be written.
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { DocumentFieldsProvider, documentSection } from '../../fields/document.js'
import { FieldRows } from '../../fields/field-rows.js'
import { createFolding } from '../../fields/folding.js'
import { useFormState, useSaver, useValue } from '../../form/hooks.js'
import { createDocumentStore } from '../../form/store.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { ErrorState } from '../../parts/error-state.js'
import { Skeleton } from '../../parts/skeleton.js'
import { State } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { differingAttributes, WordDifference } from './comparison.js'
import { type DocumentForm, shapeOf } from './document-form.js'
import { DocumentPane } from './document-pane.js'
import styles from './editor.module.css'
import { Notices } from './notices.js'
import { SavingStatus } from './saving-status.js'
import { useDocumentForm, useMeta } from './use-document-form.js'
import { textOf } from './word-difference.js'

const FillDialog = lazy(async () => ({ default: (await import('./fill-dialog.js')).FillDialog }))

interface SecondColumnProps {
  readonly form: DocumentForm
  /** A locale, or `published`. */
  readonly shown: string
  readonly document: string
  /** Begins the ids of its fields. */
  readonly idPrefix: string
}

/** The second column of the editor. */
export function SecondColumn(props: SecondColumnProps) {
  return props.shown === 'published' ? <PublishedPane {...props} /> : <LanguagePane {...props} />
}

function LanguagePane({ form, shown: locale, document, idPrefix }: SecondColumnProps) {
  const format = useFormat()
  const nothing = useCallback(() => {}, [])
  const folding = useMemo(() => createFolding(), [])
  const { opened, replace } = useDocumentForm(form.type.uid, document, locale, nothing)
  if (opened.kind !== 'open')
    return (
      <div className={styles.besideWait}>
        {opened.kind === 'failed' ? <ErrorState text={opened.error.message} /> : <Skeleton lines={8} isField />}
      </div>
    )
  return (
    <>
      <div className={styles.besideNotes}>
        <Notices form={opened.form} replace={replace} onCreated={nothing} />
        <LanguageHead form={opened.form} main={form} />
      </div>
      <DocumentPane form={opened.form} folding={folding} idPrefix={idPrefix} label={format.languageName(locale)} isAligned />
    </>
  )
}

/** State of the other language, or how to begin it; the main form learns of a new one for its publication. */
function LanguageHead({ form, main }: { readonly form: DocumentForm; readonly main: DocumentForm }) {
  const words = useWords().editor
  const format = useFormat()
  const { revision } = useSaver(form.saver)
  const { view } = useMeta(form)
  const [isFilling, setFilling] = useState(false)
  const isNew = revision === null
  const [wasNew] = useState(isNew)
  useEffect(() => {
    if (wasNew && !isNew) void main.saver.refresh()
  }, [wasNew, isNew, main])
  const language = format.languageName(form.locale ?? '')
  return (
    <div className={styles.besideHead}>
      {isNew ? (
        <>
          <p className={styles.soft}>{words.fill.create(language)}</p>
          {main.locale !== null && (
            <Button isSmall onPress={() => setFilling(true)}>
              {words.fill.action(format.languageName(main.locale))}
            </Button>
          )}
        </>
      ) : (
        <>
          <p>{language}</p>
          {view?.state != null && <State state={view.state} isQuiet />}
          <SavingStatus form={form} />
        </>
      )}
      {isFilling && (
        <Suspense>
          <FillDialog form={form} from={main.locale!} onClose={() => setFilling(false)} />
        </Suspense>
      )}
    </div>
  )
}

type PublishedPaneProps = Pick<SecondColumnProps, 'form' | 'idPrefix'>

function PublishedPane({ form, idPrefix }: PublishedPaneProps) {
  const words = useWords().editor
  const { view } = useMeta(form)
  const published = view?.published as Entry | null | undefined
  return published == null ? (
    <p className={styles.soft}>{words.publish.never}</p>
  ) : (
    <section className={styles.pane} aria-label={words.secondColumn.published}>
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
