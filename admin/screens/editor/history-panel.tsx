// Earlier versions of a document, compared with the draft; their values can be taken back one by one.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { labelOf } from '../../fields/document.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/dialog.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { ApiFailure, request } from '../../server/client.js'
import { personName } from '../../words/format.js'
import { Comparison, differingAttributes } from './comparison.js'
import { restoreVersion, saveAll } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import styles from './editor.module.css'
import { useMeta } from './use-document-form.js'

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
  if (versions.length === 0) return <p className={styles.soft}>{words.empty}</p>
  return (
    <>
      <ul className={styles.versions}>
        {versions.map(({ id, at, status, administrator }) => (
          <li key={id}>
            <button type="button" className={styles.version} onClick={() => onChoose(id)}>
              <span className={styles.versionTime}>
                <RelativeTime date={at} />
              </span>
              <span className={styles.soft}>{words.by(personName(administrator ?? {}) || null)}</span>
              <span className={styles.soft}>{words.status[status] ?? status}</span>
            </button>
          </li>
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => void fetchNextPage()}>{words.older}</Button>}
    </>
  )
}

function Version({ form, id }: { readonly form: DocumentForm; readonly id: number }) {
  const words = useWords().editor
  const format = useFormat()
  const { say } = useToasts()
  const { view } = useMeta(form)
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
  const take = async (fields: readonly string[]) => {
    try {
      await saveAll(form)
      await restoreVersion(form, id, fields)
      form.update({ theirs: null })
      say(words.history.restored(fields.map((name) => labelOf(form.type.layout, name)).join(', ')), { kind: 'good' })
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
    }
  }
  const differing = differingAttributes(form.type, version, draft)
  return (
    <div className={styles.sheet}>
      {differing.length > 1 && (
        <div>
          <Button isSmall onPress={() => void take(differing)}>
            {words.history.restoreAll}
          </Button>
        </div>
      )}
      <Comparison
        type={form.type}
        left={{
          title: <RelativeTime date={data.data.at} />,
          name: format.dateTime(new Date(data.data.at)),
          data: version,
          lang: form.locale,
        }}
        right={{ title: words.compare.draft, name: words.compare.draft, data: draft, lang: form.locale }}
        onTake={(name) => void take([name])}
        same={words.history.same}
      />
    </div>
  )
}
