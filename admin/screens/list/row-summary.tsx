// The summary of a row: the values of its document, without leaving the list.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { buttonClass } from '../../parts/button.js'
import { Panel } from '../../parts/dialog.js'
import { ErrorState } from '../../parts/error-state.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useWords } from '../../parts/words.js'
import { documentQuery } from '../../server/queries.js'
import { textOf } from '../editor/word-difference.js'
import type { Row } from './columns.js'
import styles from './list.module.css'
import { labelOf, type TypeInfo } from './list-query.js'

interface RowSummaryProps {
  readonly type: TypeInfo
  readonly row: Row
  readonly name: string
  readonly href: string
  readonly onClose: () => void
}

/** Longest text of a value. */
const maxText = 400

const shorten = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text)

/** The values of a row's document in the order of its form. */
export default function RowSummary({ type, row, name, href, onClose }: RowSummaryProps): ReactNode {
  const { shell } = useWords()
  const { data, isError, refetch } = useQuery(documentQuery(type.uid, row.documentId, row.locale ?? null))
  const values = (data?.data.draft ?? data?.data.published ?? {}) as Readonly<Record<string, unknown>>
  const filled = type.layout.layouts.edit.flat().flatMap(({ name: field }) => {
    const isShown = !['boolean', 'json', undefined].includes(type.attributes[field]?.type)
    const text = isShown ? textOf(values[field]) : ''
    return text === '' ? [] : [{ field, text }]
  })
  return (
    <Panel isOpen onClose={onClose} title={name} size="small">
      {isError ? <ErrorState onRetry={() => void refetch()} /> : data === undefined && <Skeleton lines={8} />}
      <dl className={styles.summary}>
        {filled.map(({ field, text }) => (
          <div key={field}>
            <dt>{labelOf(type, field)}</dt>
            <dd lang={row.locale ?? undefined} dir="auto">
              {shorten(text)}
            </dd>
          </div>
        ))}
      </dl>
      <Link href={href} className={buttonClass('main')}>
        {shell.keyList.open}
      </Link>
    </Panel>
  )
}
