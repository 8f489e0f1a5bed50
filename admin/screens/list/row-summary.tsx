// The summary of a row: the values of its document, without leaving the list.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { plainMarkdown } from '../../fields/summaries.js'
import { buttonClass } from '../../parts/button.js'
import { ColorText } from '../../parts/color-text.js'
import { Panel } from '../../parts/dialog.js'
import { ErrorState } from '../../parts/error-state.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useFormat, useWords } from '../../parts/words.js'
import { documentQuery } from '../../server/queries.js'
import { textOf } from '../editor/values-as-text.js'
import { type Row, valueCell } from './columns.js'
import styles from './list.module.css'
import { attributeOf, labelOf, mainField, type TypeInfo } from './list-query.js'

interface RowSummaryProps {
  readonly type: TypeInfo
  readonly row: Row
  readonly name: string
  readonly href: string
  readonly onClose: () => void
}

/** Kinds without a text that says something. */
const unshown = new Set(['boolean', 'json', 'uid', 'password'])

/** Kinds whose values are written as in a list. */
const formatted = new Set(['integer', 'decimal', 'float', 'biginteger', 'date', 'datetime'])

/** Longest text of a value. */
const maxText = 400

const shorten = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text)

/** The values of a row's document in the order of its form. */
export default function RowSummary({ type, row, name, href, onClose }: RowSummaryProps): ReactNode {
  const words = useWords()
  const format = useFormat()
  const { data, isError, refetch } = useQuery(documentQuery(type.uid, row.documentId, row.locale ?? null))
  const values = (data?.data.draft ?? data?.data.published ?? {}) as Readonly<Record<string, unknown>>
  const filled = type.layout.layouts.edit.flat().flatMap(({ name: field }) => {
    const attribute = attributeOf(type, field)
    const value = values[field]
    const text = attribute === undefined || unshown.has(attribute.type) ? '' : textOf(value)
    // The title has the name.
    if (attribute === undefined || text === '' || field === mainField(type)) return []
    if (formatted.has(attribute.type)) return [{ field, shown: valueCell({ words, format, type }, field, attribute, value, undefined) }]
    return [{ field, shown: <ColorText text={shorten(attribute.type === 'richtext' ? plainMarkdown(text) : text)} /> }]
  })
  return (
    <Panel isOpen onClose={onClose} title={name} size="small">
      {isError ? <ErrorState onRetry={() => void refetch()} /> : data === undefined && <Skeleton lines={8} />}
      <dl className={styles.summary}>
        {filled.map(({ field, shown }) => (
          <div key={field}>
            <dt>{labelOf(type, field)}</dt>
            <dd lang={row.locale ?? undefined} dir="auto">
              {shown}
            </dd>
          </div>
        ))}
      </dl>
      <Link href={href} className={buttonClass('main')}>
        {words.shell.keyList.open}
      </Link>
    </Panel>
  )
}
