// Earlier versions of a document, compared with the draft; they can be restored whole, or value by value.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { labelOf, mayReplace } from '../../fields/document.js'
import { useSaver } from '../../form/hooks.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/dialog.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { ApiFailure, request } from '../../server/client.js'
import { type Person, personName } from '../../words/format.js'
import { Comparison } from './comparison.js'
import { readView, restoreVersion, saveAll } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import styles from './history-panel.module.css'
import { useMeta } from './use-document-form.js'
import { differingAttributes } from './values-as-text.js'

interface HistoryPanelProps {
  readonly form: DocumentForm
  readonly onClose: () => void
}

/** The list of versions, and one of them. */
export function HistoryPanel({ form, onClose }: HistoryPanelProps) {
  const words = useWords().editor.history
  const [chosen, setChosen] = useState<number | null>(null)
  return (
    <Panel
      isOpen
      onClose={onClose}
      size="large"
      title={words.title}
      actions={
        chosen !== null && (
          <Button isSmall kind="quiet" icon={<ArrowLeft size={16} />} onPress={() => setChosen(null)}>
            {words.back}
          </Button>
        )
      }
    >
      {chosen === null ? <Versions form={form} onChoose={setChosen} /> : <Version form={form} id={chosen} />}
    </Panel>
  )
}

function Versions({ form, onChoose }: { readonly form: DocumentForm; readonly onChoose: (id: number) => void }) {
  const words = useWords().editor.history
  const document = form.saver.state.documentId ?? ''
  const locale = form.locale === null ? {} : { locale: form.locale }
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['history', form.type.uid, document, form.locale],
    queryFn: ({ pageParam, signal }) =>
      request('GET', '/content/{type}/{document}/history', {
        path: { type: form.type.uid, document },
        query: { ...locale, ...(pageParam === '' ? {} : { after: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next,
    staleTime: 0,
  })
  if (error instanceof ApiFailure && error.status === 501) return <p>{words.unavailable}</p>
  if (data === undefined) return <Skeleton lines={6} />
  const versions = data.pages.flatMap((page) => page.data)
  return (
    <>
      <ul className={styles.versions}>
        <CurrentVersion form={form} />
        {versions.map(({ id, at, status, administrator, changed }) => (
          <li key={id}>
            <button type="button" className={styles.version} onClick={() => onChoose(id)}>
              <VersionCells at={at} person={administrator} state={words.status[status] ?? status} />
              {changed !== null && changed.length > 0 && (
                <span className={styles.changed}>{changed.map((name) => labelOf(form.type.layout, name)).join(', ')}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
      {versions.length === 0 && <p className={styles.soft}>{words.empty}</p>}
      {hasNextPage && <Button onPress={() => void fetchNextPage()}>{words.older}</Button>}
    </>
  )
}

/** The last change of the document itself, above its versions. */
function CurrentVersion({ form }: { readonly form: DocumentForm }) {
  const words = useWords().editor.history
  const { documentId, revision } = useSaver(form.saver)
  const { data } = useQuery({
    queryKey: ['current version', form.type.uid, documentId, form.locale, revision],
    queryFn: () => readView(form, documentId!, form.locale),
    enabled: documentId !== null,
    staleTime: 0,
  })
  if (data?.draft == null) return null
  const { updatedAt, updatedBy } = data.draft as { readonly updatedAt?: string; readonly updatedBy?: Person | null }
  return (
    <li className={styles.version}>
      <VersionCells at={updatedAt} person={updatedBy} state={form.type.draftAndPublish ? words.current : words.currentPublic} />
    </li>
  )
}

interface VersionCellsProps {
  readonly at: string | undefined
  readonly person: Person | null | undefined
  readonly state: string
}

function VersionCells({ at, person, state }: VersionCellsProps) {
  const words = useWords().editor.history
  return (
    <>
      <span className={styles.time}>{at !== undefined && <RelativeTime date={at} />}</span>
      <span className={styles.soft}>{words.by(personName(person ?? {}) || null)}</span>
      <span className={styles.soft}>{state}</span>
    </>
  )
}

function Version({ form, id }: { readonly form: DocumentForm; readonly id: number }) {
  const words = useWords().editor
  const format = useFormat()
  const { say } = useToasts()
  const { view } = useMeta(form)
  const [restored, setRestored] = useState<readonly string[]>([])
  const document = form.saver.state.documentId ?? ''
  const query = form.locale === null ? {} : { locale: form.locale }
  const { data } = useQuery({
    queryKey: ['history', form.type.uid, document, form.locale, id],
    queryFn: ({ signal }) =>
      request('GET', '/content/{type}/{document}/history/{id}', { path: { type: form.type.uid, document, id } as never, query, signal }),
  })
  if (data === undefined || view === null) return <Skeleton lines={8} />
  const version = data.data.data as Entry
  const draft = form.store.get('') as Entry
  const differing = differingAttributes(form.type, version, draft)
  const mayRestore = (name: string) => mayReplace(view.may.update, name)
  /** Null: all that may be changed. */
  const restore = async (name: string | null) => {
    let wanted: readonly string[] = []
    try {
      await saveAll(form)
      const before = form.store.get('') as Entry
      wanted = name === null ? differingAttributes(form.type, version, before) : [name]
      setRestored((others) => [...others, ...wanted])
      await restoreVersion(form, id, name === null ? null : wanted)
      // Links that are not loaded would be lost by undo.
      form.store.noteReplaced(
        before,
        wanted.filter((one) => !form.store.isPartial(one)),
      )
      form.update({ theirs: null })
      const left = differingAttributes(form.type, version, form.store.get('') as Entry).length
      say(name === null ? words.history.restoredAll(wanted.length - left, left) : words.history.restored(labelOf(form.type.layout, name)), {
        kind: 'good',
      })
    } catch (error) {
      setRestored((others) => others.filter((one) => !wanted.includes(one)))
      say((error as Error).message, { kind: 'wrong' })
    }
  }
  const { status, at } = data.data
  const title = `${words.history.status[status] ?? status}, ${format.dateTime(new Date(at))}`
  return (
    <Comparison
      type={form.type}
      left={{
        title,
        name: title,
        data: version,
        lang: form.locale,
        action: differing.some(mayRestore) && (
          <Button isSmall onPress={() => void restore(null)}>
            {words.history.restoreAll}
          </Button>
        ),
      }}
      right={{ title: words.compare.draft, name: words.compare.draft, data: draft, lang: form.locale }}
      onRestore={(name) => void restore(name)}
      mayRestore={mayRestore}
      restored={restored}
      same={words.history.same}
    />
  )
}
