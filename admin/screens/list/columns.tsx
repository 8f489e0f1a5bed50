// Columns of a list: a cell for each kind of attribute.
import { Check, Minus } from 'lucide-react'
import { type ReactNode, useMemo, useSyncExternalStore } from 'react'
import { ColorText } from '../../parts/color-text.js'
import { Hidden } from '../../parts/hidden.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { type Planned, PlannedMark, State, type StateName } from '../../parts/state.js'
import type { Column } from '../../parts/table.js'
import { useFormat, useWords } from '../../parts/words.js'
import { peopleAt, subscribeToEvents } from '../../server/events.js'
import { tabId } from '../../server/presence.js'
import type { Words } from '../../words/catalog.js'
import { type Format, type Person, personName } from '../../words/format.js'
import styles from './list.module.css'
import { type AttributeInfo, attributeOf, labelOf, localesColumn, mainField, sortKey, stateColumn, type TypeInfo } from './list-query.js'
import { LocaleMarks, type LocaleState } from './locale-marks.js'

/** A document of a list. */
export interface Row {
  readonly documentId: string
  readonly locale?: string | null
  readonly state?: StateName
  readonly locales?: readonly LocaleState[]
  readonly scheduled?: readonly (Planned & { readonly locale: string | null })[]
  readonly values: Readonly<Record<string, unknown>>
}

/** A locale of the installation. */
export interface LocaleInfo {
  readonly code: string
  readonly name: string | null
  readonly isDefault: boolean
}

/** The label of a column or of a field in filters. */
export function columnLabel(words: Words, type: TypeInfo, name: string): string {
  if (name === stateColumn) return words.list.state
  if (name === localesColumn) return words.list.languages
  return words.list.attributes[name] ?? labelOf(type, name)
}

/** The name of a document, or a text for one without. */
export function rowName(words: Words, type: TypeInfo, row: Row): string {
  const value = row.values[mainField(type)]
  return value === null || value === undefined || value === '' ? words.list.untitled : String(value)
}

interface CellContext {
  readonly words: Words
  readonly format: Format
  readonly type: TypeInfo
}

const widths: Readonly<Record<string, number>> = {
  boolean: 90,
  integer: 110,
  decimal: 110,
  float: 110,
  biginteger: 110,
  date: 120,
  datetime: 132,
  media: 80,
  enumeration: 120,
  [localesColumn]: 110,
}

/** Pixels of texts, which may be cut, where there is little space. */
const leastWidths: Readonly<Record<string, number>> = {
  string: 76,
  text: 76,
  uid: 76,
  email: 76,
  relation: 76,
  enumeration: 90,
  datetime: 120,
}

/** Pixels of the longest state with a clock: German words are longer. */
const stateWidth = ({ parts }: Words): number => 91 + 5 * parts.state.published.length

/** The columns of a list; the same array until the type, the names or the language change. */
export function useColumns(type: TypeInfo, names: readonly string[], locales: readonly LocaleInfo[]): readonly Column<Row>[] {
  const words = useWords()
  const format = useFormat()
  const key = names.join()
  return useMemo(
    () =>
      key.split(',').map((name): Column<Row> => {
        const attribute = attributeOf(type, name)
        const kind = attribute?.type ?? name
        const isNumber = ['integer', 'decimal', 'float', 'biginteger'].includes(kind)
        return {
          id: name,
          label: columnLabel(words, type, name),
          isSortable: sortKey(type, name) !== null,
          width: name === stateColumn ? stateWidth(words) : (widths[kind] ?? 140),
          least: leastWidths[kind],
          ...(isNumber ? { align: 'end' } : {}),
          cell: cellOf({ words, format, type }, name, attribute, locales),
        }
      }),
    [type, key, words, format, locales],
  )
}

function cellOf(
  context: CellContext,
  name: string,
  attribute: AttributeInfo | undefined,
  locales: readonly LocaleInfo[],
): (row: Row) => ReactNode {
  const { words, type } = context
  if (name === stateColumn) return stateCell
  if (name === localesColumn) return (row) => <LocaleMarks row={row} locales={locales} hasDrafts={type.draftAndPublish} />
  if (name === mainField(type))
    return (row) => {
      const text = rowName(words, type, row)
      return (
        <>
          <span lang={row.locale ?? undefined} className={row.values[name] ? undefined : styles.untitled}>
            {text}
          </span>
          <RowPeople type={type.uid} document={row.documentId} />
        </>
      )
    }
  if (attribute === undefined) return () => null
  return (row) => valueCell(context, name, attribute, row.values[name], row.locale ?? undefined)
}

/** The next scheduled action of a row in one language. */
export const plannedIn = ({ scheduled }: Row, locale: string | null) => scheduled?.find((one) => one.locale === locale)

function stateCell(row: Row): ReactNode {
  const planned = plannedIn(row, row.locale ?? null)
  if (row.state === undefined) return null
  return (
    <span className={styles.state}>
      <State state={row.state} />
      {planned && <PlannedMark {...planned} />}
    </span>
  )
}

/** Others who have the document open. */
function RowPeople({ type, document }: { readonly type: string; readonly document: string }): ReactNode {
  const { editor } = useWords()
  const format = useFormat()
  const people = useSyncExternalStore(subscribeToEvents, () => peopleAt(type, document))
  const others = people.filter(({ tab }) => tab !== tabId)
  if (others.length === 0) return null
  const names = others.map(({ administrator }) => personName(administrator))
  return <span className={styles.people}> {editor.people.here(format.list([...new Set(names)]))}</span>
}

/** A value as lists show it. */
export function valueCell(
  context: CellContext,
  name: string,
  attribute: AttributeInfo,
  value: unknown,
  lang: string | undefined,
): ReactNode {
  const { words, format } = context
  if (value === null || value === undefined || value === '') return null
  switch (attribute.type) {
    case 'boolean':
      return (
        <>
          {value === true ? <Check size={16} aria-hidden="true" /> : <Minus size={16} className={styles.off} aria-hidden="true" />}
          <Hidden>{value === true ? words.list.yes : words.list.no}</Hidden>
        </>
      )
    case 'integer':
    case 'decimal':
    case 'float':
      return name === 'id' ? String(value) : format.number(Number(value))
    case 'biginteger':
      return Number.isSafeInteger(Number(value)) ? format.number(Number(value)) : String(value)
    case 'datetime':
      return <RelativeTime date={String(value)} />
    case 'date':
      return <time dateTime={String(value)}>{format.date(new Date(`${String(value)}T12:00:00`))}</time>
    case 'media':
      return <Picture value={value} />
    case 'relation':
      return <Linked value={value} />
    case 'enumeration':
    case 'uid':
    case 'email':
      return String(value)
    default:
      return (
        <span lang={lang}>
          <ColorText text={String(value)} />
        </span>
      )
  }
}

interface Named extends Person {
  readonly name?: string | null
  readonly count?: number
}

/** One link by its name, several by their number. */
function Linked({ value }: { readonly value: unknown }): ReactNode {
  const { list } = useWords()
  const { name, count, ...person } = value as Named
  if (count !== undefined) return count === 0 ? null : list.links(count)
  return name ?? (personName(person) || list.untitled)
}

interface Thumbnail {
  readonly url?: string | null
  readonly name?: string
  readonly mime?: string | null
  readonly alternativeText?: string | null
}

function Picture({ value }: { readonly value: unknown }): ReactNode {
  const words = useWords()
  const files = (Array.isArray(value) ? value : [value]) as readonly Thumbnail[]
  const [first] = files
  if (first === undefined) return null
  const isPicture = typeof first.url === 'string' && first.mime?.startsWith('image/') !== false
  return (
    <span className={styles.picture}>
      {isPicture ? (
        <img src={first.url!} alt={first.alternativeText ?? ''} width={40} height={28} loading="lazy" decoding="async" />
      ) : (
        (first.name ?? first.mime)
      )}
      {files.length > 1 && <span className={styles.more}>{words.list.more(files.length - 1)}</span>}
    </span>
  )
}
