// The frame of one attribute: label, marks, limits, errors and hints around the editor of its kind.
import { Globe, Lock } from 'lucide-react'
import { memo, Suspense, useCallback, useState, useSyncExternalStore } from 'react'
import { useErrors } from '../form/hooks.js'
import { joinPath } from '../form/paths.js'
import type { DocumentStore } from '../form/store.js'
import { type FormAttribute, isLocalized } from '../form/values.js'
import { ErrorBoundary } from '../parts/error-state.js'
import { Field } from '../parts/field.js'
import { Skeleton } from '../parts/skeleton.js'
import { useWords } from '../parts/words.js'
import styles from './attribute-field.module.css'
import type { checkValue, Finding } from './checks.js'
import { type FieldProps, fieldId, joinNames, labelOf, mayWrite, type Section, useDocumentFields } from './document.js'
import { ErrorTexts } from './error-text.js'
import { kindFor } from './kinds.js'
import { limitTexts } from './limits.js'

interface AttributeFieldProps extends Pick<FieldProps, 'Rows'> {
  readonly section: Section
  readonly name: string
}

/** One attribute of a document or of an entry. */
export const AttributeField = memo(function AttributeField({ section, name, Rows }: AttributeFieldProps) {
  const document = useDocumentFields()
  const words = useWords()
  const attribute = section.attributes[name]!
  const path = joinPath(section.path, name)
  const names = joinNames(section.names, name)
  const errors = useErrors(document.store, path)
  const kind = kindFor(attribute)
  const label = labelOf(section.layout, name)
  const edit = section.layout.metadatas[name]?.edit ?? {}
  const [description, placeholder] = [textOf(edit.description), textOf(edit.placeholder)]
  const isReadOnly = edit.editable === false || !mayWrite(document.mayUpdate, names)
  const limit = typeof attribute.maxLength === 'number' && !isReadOnly ? attribute.maxLength : undefined
  const shortest = typeof attribute.minLength === 'number' ? attribute.minLength : 0
  const length = useLength(document.store, path, limit !== undefined || shortest > 0)
  // A text that was long enough at first needs no reminder; others have it while they grow, so that nothing moves, unless an error says it.
  const [wasShort] = useState(length < shortest)
  const { hints, onLeave } = useHints(document.store, path, attribute)
  const open = hints.filter(({ code }) => !errors.some((error) => error.code === code))
  const limits = isReadOnly ? [] : limitTexts(words, attribute, wasShort && errors.length + open.length === 0)
  const { Field: Editor } = kind
  return (
    <Field
      id={fieldId(document, path)}
      label={label}
      required={attribute.required === true}
      lang={kind.hasLanguage ? (document.locale ?? undefined) : undefined}
      isGroup={kind.isGroup}
      description={[description, ...limits].filter(Boolean).join(' ')}
      count={limit === undefined ? undefined : { used: length, limit }}
      error={errors.length > 0 && <ErrorTexts {...{ errors, label, placeholder }} />}
      hint={open.length > 0 && <ErrorTexts errors={open.map((hint) => ({ ...hint, message: '' }))} {...{ label, placeholder }} />}
      onLeave={isReadOnly ? undefined : onLeave}
      aside={<Marks section={section} attribute={attribute} path={path} isReadOnly={isReadOnly} />}
    >
      {(control) => (
        <ErrorBoundary>
          <Suspense fallback={<Skeleton lines={1} isField />}>
            <Editor {...{ control, path, names, name, attribute, label, isReadOnly, Rows }} placeholder={placeholder} />
          </Suspense>
          {document.renderBelow?.(path)}
        </ErrorBoundary>
      )}
    </Field>
  )
})

const noHints: readonly Finding[] = []

/** Delay in milliseconds, so that a click on another field lands before hints move it. */
const hintDelay = 250

/** Constraints that the value broke when the field was left, and still breaks. None appear during typing. */
function useHints(store: DocumentStore, path: string, attribute: FormAttribute) {
  const [left, setLeft] = useState<{ readonly check: typeof checkValue; readonly codes: readonly string[] } | null>(null)
  const subscribe = useCallback((listener: () => void) => (left === null ? () => {} : store.subscribe(path, listener)), [store, path, left])
  const json = useSyncExternalStore(subscribe, () => {
    const found = left?.check(attribute, store.get(path)).filter(({ code }) => left.codes.includes(code))
    return found === undefined || found.length === 0 ? '' : JSON.stringify(found)
  })
  const onLeave = () =>
    setTimeout(async () => {
      const { checkValue: check } = await import('./checks.js')
      const codes = check(attribute, store.get(path)).map(({ code }) => code)
      setLeft(codes.length === 0 ? null : { check, codes })
    }, hintDelay)
  return { hints: json === '' ? noHints : (JSON.parse(json) as readonly Finding[]), onLeave }
}

/** Characters of a text that is limited; draws again only if it is. */
function useLength(store: DocumentStore, path: string, isCounted: boolean): number {
  const subscribe = useCallback(
    (listener: () => void) => (isCounted ? store.subscribe(path, listener) : () => {}),
    [store, path, isCounted],
  )
  return useSyncExternalStore(subscribe, () => {
    const value = isCounted ? store.get(path) : ''
    return typeof value === 'string' ? value.length : 0
  })
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

interface MarksProps {
  readonly section: Section
  readonly attribute: FormAttribute
  readonly path: string
  readonly isReadOnly: boolean
}

/** Marks next to the label: people in the field, shared by all languages, private, read-only in a writable document. */
function Marks({ section, attribute, path, isReadOnly }: MarksProps) {
  const { type, mayUpdate, renderAside } = useDocumentFields()
  const words = useWords().fields
  const isShared = type.localized && section.path === '' && !isLocalized(attribute) && attribute.type !== 'relation'
  return (
    <span className={styles.marks}>
      {renderAside?.(path)}
      {isShared && (
        <span className={styles.mark} title={words.shared}>
          <Globe size={13} aria-hidden="true" />
          <span className={styles.word}>{words.shared}</span>
          <span className={styles.short} aria-hidden="true">
            {words.sharedShort}
          </span>
        </span>
      )}
      {attribute.private === true && (
        <span className={styles.mark} title={words.private}>
          <Lock size={13} aria-hidden="true" />
          <span className={styles.word}>{words.private}</span>
        </span>
      )}
      {isReadOnly && mayUpdate !== null && mayUpdate.length > 0 && <span className={styles.mark}>{words.readOnly}</span>}
    </span>
  )
}
