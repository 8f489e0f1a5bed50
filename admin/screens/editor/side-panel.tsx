// Side panel: publication, errors and conflicts, outline, and documents that link here.

import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { labelOf } from '../../fields/document.js'
import { useFormState, useSaver, useValue } from '../../form/hooks.js'
import type { Conflict } from '../../form/merge.js'
import { type Entry, type FormAttribute, isKeyed, keyOf, kindOf } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { Disclosure } from '../../parts/disclosure.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { PlannedMark, State } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { startQuery } from '../../server/queries.js'
import { readUses } from './document-actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { ConflictChoice } from './document-pane.js'
import styles from './editor.module.css'
import { FieldLinks, labelOfPath } from './path-labels.js'
import { useMeta } from './use-document-form.js'
import { nameOf, textOf, unpublishedAttributes } from './values-as-text.js'

interface SidePanelProps {
  readonly form: DocumentForm
  readonly onPublish: () => void
  readonly onGo: (path: string) => void
  readonly onLocale: (locale: string) => void
}

/** The side panel. */
export function SidePanel(props: SidePanelProps) {
  const { form, onGo } = props
  return (
    <>
      <Publication {...props} />
      <Conflicts form={form} onGo={onGo} />
      <Errors form={form} onGo={onGo} />
      <Outline form={form} onGo={onGo} />
      <UsedIn form={form} />
    </>
  )
}

function Publication({ form, onPublish, onLocale }: SidePanelProps) {
  const words = useWords().editor
  const format = useFormat()
  const { view } = useMeta(form)
  const { phase, documentId } = useSaver(form.saver)
  useValue(form.store, '')
  const { type } = form
  if (!type.draftAndPublish) {
    return (
      <section className={styles.box}>
        <Button kind="main" isBusy={phase === 'saving'} isDisabled={phase === 'saved'} onPress={() => void form.saver.save()}>
          {words.saving.save}
        </Button>
        <p className={styles.soft}>{words.saving.unsavedPublic}</p>
      </section>
    )
  }
  const published = view?.published as Entry | null | undefined
  const count = published == null ? 0 : unpublishedAttributes(type, published, form.store.get('') as Entry).length
  const since = view?.locales.find(({ locale }) => locale === form.locale)?.publishedAt
  const planned = view?.scheduled.filter(({ error }) => error === null) ?? []
  const isCurrent = published != null && count === 0
  return (
    <section className={styles.box} aria-label={words.publish.title}>
      {mayPublish(type, view) && (
        <Button kind={isCurrent ? 'plain' : 'main'} onPress={onPublish} isDisabled={documentId === null && phase === 'saved'}>
          {words.publish.publish}
        </Button>
      )}
      <div className={styles.facts}>
        <p>
          {since == null ? (
            words.publish.never
          ) : (
            <>
              {words.publish.since('')} <RelativeTime date={since} />
            </>
          )}
        </p>
        {published != null && <p className={styles.soft}>{count === 0 ? words.publish.same : words.publish.changed(count)}</p>}
      </div>
      {(view?.locales.length ?? 0) > 1 && (
        <ul className={styles.languages}>
          {view!.locales.map(({ locale, state }) => (
            <li key={locale}>
              <button type="button" className={styles.link} onClick={() => onLocale(locale ?? '')} aria-current={locale === form.locale}>
                {format.languageName(locale ?? '')}
              </button>
              <span className={styles.languageState}>
                {planned
                  .filter((one) => one.locale === locale)
                  .map((one) => (
                    <PlannedMark key={one.action} {...one} />
                  ))}
                <State state={state} isQuiet />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

interface GoingProps {
  readonly form: DocumentForm
  readonly onGo: (path: string) => void
}

/** Conflicts of fields are shown under these; those about the removal of an entry only here. */
const hasOwnPlace = ({ mine, theirs }: Conflict): boolean => mine !== undefined && theirs !== undefined

interface ConflictsProps extends GoingProps {
  /** Only conflicts that are not shown below a field. */
  readonly isBeside?: boolean
}

/** Conflicts with links to their fields. */
export function Conflicts({ form, onGo, isBeside = false }: ConflictsProps) {
  const words = useWords().editor.conflict
  const { store, type } = form
  const paths = useFormState(store, (all) => all.conflicts().flatMap((one) => (isBeside && hasOwnPlace(one) ? [] : one.path)))
  if (paths.length === 0) return null
  return (
    <section className={styles.box}>
      <h2 className={styles.boxTitle}>{words.heading(paths.length)}</h2>
      {paths.map((path) => {
        const conflict = store.conflict(path)
        if (conflict === undefined) return null
        return (
          <div key={path}>
            <button type="button" className={styles.link} onClick={() => onGo(path)}>
              {labelOfPath(type, store, path)}
            </button>
            <Suspense>{hasOwnPlace(conflict) ? null : <ConflictChoice store={store} conflict={conflict} />}</Suspense>
          </div>
        )
      })}
    </section>
  )
}

function Errors({ form, onGo }: GoingProps) {
  const words = useWords().editor.errors
  const errors = useFormState(form.store, (store) => store.allErrors())
  if (errors.length === 0) return null
  return (
    <section className={styles.box} aria-label={words.title(errors.length)}>
      <h2 className={styles.boxTitle}>
        {words.title(errors.length)} <kbd className={styles.keys}>F8</kbd>
      </h2>
      <FieldLinks form={form} onGo={onGo} found={errors} />
    </section>
  )
}

/** Longest outline of one list. */
const maxOutline = 300
/** Longest text of a line. */
const maxLine = 80

function Outline({ form, onGo }: GoingProps) {
  const words = useWords().editor.outline
  const lists = form.type.layout.layouts.edit.flat().filter(({ name }) => {
    const attribute = form.type.attributes[name] as unknown as FormAttribute | undefined
    return attribute !== undefined && (kindOf(attribute) === 'zone' || kindOf(attribute) === 'list')
  })
  const filled = useFormState(form.store, (store) => lists.filter(({ name }) => (store.get(name) as readonly unknown[] | null)?.length))
  if (filled.length === 0) return null
  return (
    <section className={styles.box}>
      <h2 className={styles.boxTitle}>{words.title}</h2>
      {filled.map(({ name }) => (
        <OutlineOf key={name} form={form} name={name} onGo={onGo} />
      ))}
    </section>
  )
}

function OutlineOf({ form, name, onGo }: GoingProps & { readonly name: string }) {
  const value = useValue(form.store, name)
  const { components, attributes, layout } = form.type
  if (!isKeyed(value)) return null
  return (
    <Disclosure head={labelOf(layout, name)} level={3} defaultOpen>
      <ol className={styles.outline}>
        {value.slice(0, maxOutline).map((entry, index) => {
          const uid = String(entry.__component ?? attributes[name]?.component)
          const text = Object.entries(entry).find(([member, one]) => member !== '__component' && typeof one === 'string' && one !== '')?.[1]
          return (
            <li key={keyOf(entry)}>
              <button type="button" className={styles.outlineItem} onClick={() => onGo(`${name}/${keyOf(entry)}`)}>
                <span className={styles.soft}>{index + 1}</span>
                <span className={styles.outlineText}>
                  {text === undefined ? components[uid]?.displayName : textOf(text).slice(0, maxLine)}
                </span>
              </button>
            </li>
          )
        })}
      </ol>
    </Disclosure>
  )
}

function UsedIn({ form }: { readonly form: DocumentForm }) {
  const words = useWords().editor.uses
  const [isOpen, setOpen] = useState(false)
  const { documentId } = useSaver(form.saver)
  const { data } = useQuery({ queryKey: ['uses of', documentId], queryFn: () => readUses(form), enabled: isOpen && documentId !== null })
  const { data: start } = useQuery(startQuery())
  if (documentId === null) return null
  const groups = (data ?? []).filter(({ documents }) => documents.length > 0)
  return (
    <section className={styles.box}>
      <Disclosure head={words.title} level={2} isOpen={isOpen} onChange={setOpen}>
        {data !== undefined && groups.length === 0 && <p className={styles.soft}>{words.none}</p>}
        {groups.map(({ type, path, documents, more }) => (
          <div key={`${type} ${path}`} className={styles.useGroup}>
            <h3 className={styles.soft}>{start?.data.types.find(({ uid }) => uid === type)?.displayName ?? type}</h3>
            <ul className={styles.links}>
              {documents.map((document) => (
                <li key={document.documentId}>
                  <Link href={addresses.document(type, document.documentId)}>{nameOf(document as Entry)}</Link>
                </li>
              ))}
              {more && <li className={styles.soft}>{words.more}</li>}
            </ul>
          </div>
        ))}
      </Disclosure>
    </section>
  )
}
