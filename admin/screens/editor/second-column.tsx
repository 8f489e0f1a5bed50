// The second column of the editor: another language to write in, or the public version with the changes since, which cannot be written.
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { DocumentFieldsProvider, documentSection } from '../../fields/document.js'
import { FieldRows } from '../../fields/field-rows.js'
import { createFolding, type Folding } from '../../fields/folding.js'
import { useFormState, useSaver, useValue } from '../../form/hooks.js'
import { createDocumentStore } from '../../form/store.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { ErrorState } from '../../parts/error-state.js'
import { Skeleton } from '../../parts/skeleton.js'
import { State } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { WordDifference } from './comparison.js'
import type { PublicationCheck } from './document-actions.js'
import { type DocumentForm, shapeOf } from './document-form.js'
import { DocumentPane } from './document-pane.js'
import styles from './editor.module.css'
import { type FormPlace, undoAt } from './focus-path.js'
import { Notices } from './notices.js'
import { People, useMerging } from './presence.js'
import { SavingStatus } from './saving-status.js'
import { useSideForm } from './side-form.js'
import { Conflicts } from './side-panel.js'
import { useDocumentForm, useMeta } from './use-document-form.js'
import { differingAttributes, textOf } from './values-as-text.js'

const FillDialog = lazy(async () => ({ default: (await import('./fill-dialog.js')).FillDialog }))

/** The form of the second column. */
export interface SecondForm extends FormPlace {
  readonly undo: (isRedo: boolean) => void
}

interface SecondColumnProps {
  readonly form: DocumentForm
  /** Receives the form of this column while it has one. */
  readonly onForm: (second: SecondForm | null) => void
  /** Opens a language at its first error of an attribute. */
  readonly onGoIn: (check: PublicationCheck, attribute: string) => void
  /** A locale, or `published`. */
  readonly shown: string
  readonly document: string
  /** Begins the ids of its fields. */
  readonly idPrefix: string
}

/** The second column of the editor. */
export function SecondColumn(props: SecondColumnProps) {
  return props.shown === 'published' ? (
    <div className={styles.besidePane}>
      <PublishedPane {...props} />
    </div>
  ) : (
    <LanguagePane {...props} />
  )
}

function LanguagePane(props: SecondColumnProps) {
  const { form, shown: locale, document } = props
  const nothing = useCallback(() => {}, [])
  const folding = useMemo(() => createFolding(), [])
  const { opened, replace } = useDocumentForm(form.type.uid, document, locale, nothing)
  if (opened.kind !== 'open')
    return (
      <div className={styles.besidePane}>
        <div className={styles.besideWait}>
          {opened.kind === 'failed' ? <ErrorState text={opened.error.message} /> : <Skeleton lines={8} isField />}
        </div>
      </div>
    )
  return (
    <LanguageForm {...props} folding={folding} form={opened.form} main={form}>
      <Notices form={opened.form} replace={replace} onCreated={nothing} />
    </LanguageForm>
  )
}

interface LanguageFormProps extends SecondColumnProps {
  readonly main: DocumentForm
  readonly folding: Folding
  readonly children: ReactNode
}

function LanguageForm({ form, main, onForm, onGoIn, shown, folding, idPrefix, children }: LanguageFormProps) {
  const format = useFormat()
  const { go, onKeyDown, windows } = useSideForm({ form, folding, idPrefix, onGoIn })
  useMerging(form)
  useEffect(() => {
    onForm({ form, idPrefix, go, undo: (isRedo) => undoAt(form.store, folding, idPrefix, isRedo) })
    return () => onForm(null)
  }, [onForm, form, folding, idPrefix, go])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus is in a field inside
    <div className={styles.besidePane} data-column="second" onKeyDown={onKeyDown}>
      <div className={styles.besideNotes}>
        {children}
        <Conflicts form={form} onGo={go} isBeside />
        <LanguageHead form={form} main={main} />
      </div>
      <DocumentPane form={form} folding={folding} idPrefix={idPrefix} label={format.languageName(shown)} isAligned />
      {windows}
    </div>
  )
}

/** State of the other language, or how to begin it; the main form learns of a new one for its publication. */
function LanguageHead({ form, main }: { readonly form: DocumentForm; readonly main: DocumentForm }) {
  const words = useWords().editor
  const { saving } = words
  const format = useFormat()
  const { revision, phase } = useSaver(form.saver)
  const { view } = useMeta(form)
  const [isFilling, setFilling] = useState(false)
  const isNew = revision === null
  const [wasNew] = useState(isNew)
  useEffect(() => {
    if (wasNew && !isNew) void main.saver.refresh()
  }, [wasNew, isNew, main])
  const language = format.languageName(form.locale ?? '')
  const mayFill = view?.may.update.length !== 0
  return (
    <div className={styles.besideHead}>
      {isNew ? (
        <>
          <p className={styles.soft}>{mayFill ? words.fill.create(language) : words.fill.absent(language)}</p>
          {main.locale !== null && mayFill && (
            <Button isSmall onPress={() => setFilling(true)}>
              {words.fill.action(format.languageName(main.locale))}
            </Button>
          )}
        </>
      ) : (
        <>
          <p>{language}</p>
          {form.type.draftAndPublish && view?.state != null && <State state={view.state} isQuiet />}
          <People form={form} />
          <SavingStatus form={form} />
        </>
      )}
      {!form.type.draftAndPublish && mayFill && (
        <Button isSmall kind="main" isBusy={phase === 'saving'} isDisabled={phase === 'saved'} onPress={() => void form.saver.save()}>
          {saving.saveLanguage(language)}
        </Button>
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
