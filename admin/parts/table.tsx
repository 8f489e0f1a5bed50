// Our own table: rows with one tab stop, selection by pointer and keys, rows drawn once.
import { ArrowDown, ArrowUp } from 'lucide-react'
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  useCallback,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Link } from 'wouter'
import { CheckBox } from './check-box.js'
import { classes } from './classes.js'
import { Hidden } from './hidden.js'
import styles from './table.module.css'
import { indexByKey, spanBetween } from './table-keys.js'
import { useWords } from './words.js'

/** A column; keep the array of columns between renders, or every row is drawn again. */
export interface Column<Row> {
  readonly id: string
  readonly label: string
  readonly isSortable?: boolean
  readonly align?: 'end'
  /** Pixels; the first column takes the rest. */
  readonly width?: number
  /** Pixels where the table has less space than it needs; otherwise the column stays as wide. */
  readonly least?: number
  readonly cell: (row: Row) => ReactNode
}

/** Order of a table. */
interface TableSort {
  readonly column: string
  readonly isDescending: boolean
}

/** Actions of a screen on its table. */
export interface TableHandle {
  /** Focuses a row: the one before, after, or the one that had the focus last. */
  readonly focusRow: (by?: -1 | 0 | 1) => void
  /** Selects or unselects the row that had the focus last. */
  readonly toggleRow: () => void
}

/** Rows of one kind. */
interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Name of a row, for its check box. */
  readonly nameOf: (row: Row) => string
  /** Address that a row opens; its first cell is the link. */
  readonly hrefOf: (row: Row) => string
  readonly sort?: TableSort | null
  readonly onSort?: (column: string) => void
  /** Shows the summary of a row, on Space. */
  readonly onPeek?: (row: Row) => void
  /** Without it rows cannot be selected. */
  readonly onSelect?: (selected: ReadonlySet<string>) => void
  readonly selected?: ReadonlySet<string>
  /** The rows are those of the last request; others are on their way. */
  readonly isStale?: boolean
  readonly ref?: Ref<TableHandle>
}

const none: ReadonlySet<string> = new Set()

/** Pixels of the first column, and of the column of check boxes. */
const head = { width: 220, least: 150 }
const checkWidth = 40
const usualWidth = 150

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** The minimum width of a table, and the width of each column but the first: those with a minimum share any shortage of space. */
function widthsOf(columns: readonly Pick<Column<never>, 'width' | 'least'>[], checkBoxes: number) {
  const others = columns.slice(1).map(({ width = usualWidth, least = width }) => ({ width, least }))
  const wanted = checkBoxes + head.width + sum(others.map(({ width }) => width))
  const least = checkBoxes + head.least + sum(others.map((one) => one.least))
  const widths = others.map((one) => {
    const share = (one.width - one.least) / (wanted - least)
    return share === 0 ? one.width : `clamp(${one.least}px, ${one.width}px - (${wanted}px - 100cqi) * ${share}, ${one.width}px)`
  })
  return { least, widths }
}

/** The rows' keys, the row with the tab stop, and what keys and presses do to the selection. */
function useRows<Row>({ rows, keyOf, onSelect, onPeek, selected = none, ref }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf])
  const [activeKey, setActive] = useState<string | null>(null)
  const active = Math.max(0, activeKey === null ? 0 : keys.indexOf(activeKey))
  // Start of a span: the last row that was selected without Shift.
  const anchor = useRef<string | null>(null)

  const focusRow = (index: number) => {
    const key = keys[index]
    if (key === undefined) return
    setActive(key)
    body.current?.rows[index]?.querySelector<HTMLElement>('a')?.focus()
  }
  const toggle = (key: string, isSpan: boolean) => {
    const next = new Set(selected)
    const span = isSpan && anchor.current !== null ? spanBetween(keys, anchor.current, key) : [key]
    const isOn = isSpan || !selected.has(key)
    for (const one of span) isOn ? next.add(one) : next.delete(one)
    if (!isSpan) anchor.current = key
    onSelect?.(next)
  }
  const latest = useRef(toggle)
  latest.current = toggle
  const onToggle = useCallback((key: string, isSpan: boolean) => latest.current(key, isSpan), [])

  useImperativeHandle(ref, () => ({
    focusRow: (by = 0) => focusRow(Math.min(Math.max(active + by, 0), keys.length - 1)),
    toggleRow: () => keys[active] !== undefined && toggle(keys[active], false),
  }))

  const move = (to: number, isSpan: boolean) => {
    if (isSpan && keys[to] !== undefined) {
      if (anchor.current === null || !selected.has(anchor.current)) anchor.current = keys[active]!
      onSelect?.(new Set([...selected, ...spanBetween(keys, anchor.current, keys[to])]))
    }
    focusRow(to)
  }
  const keyDown = (event: KeyboardEvent) => {
    const key = keys[active]
    if (event.altKey || key === undefined) return
    const isCommand = event.ctrlKey || event.metaKey
    const to = isCommand ? null : indexByKey(event.key, active, keys.length)
    const isBox = event.target instanceof HTMLInputElement
    if (to !== null) move(to, event.shiftKey)
    else if (!isCommand && event.key === ' ' && !isBox && onPeek !== undefined) onPeek(rows[active]!)
    else if (!isCommand && (event.key.toLowerCase() === 'x' || (event.key === ' ' && !isBox))) toggle(key, event.shiftKey)
    else if (isCommand && event.key === 'a') onSelect?.(new Set([...selected, ...keys]))
    else if (event.key === 'Escape' && selected.size > 0) onSelect?.(none)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return { body, keys, active, setActive, onToggle, keyDown }
}

/** A table of links; one row is a tab stop, arrows go on from there. */
export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, onSelect, selected = none } = props
  const { parts } = useWords()
  const { body, keys, active, setActive, onToggle, keyDown } = useRows(props)
  const { least, widths } = widthsOf(columns, onSelect ? checkWidth : 0)
  return (
    <div className={styles.scroll}>
      <table
        className={styles.table}
        aria-label={props.label}
        aria-busy={props.isStale || undefined}
        style={{ '--least': `${least}px` } as CSSProperties}
      >
        <colgroup>
          {onSelect !== undefined && <col style={{ inlineSize: checkWidth }} />}
          {columns.map(({ id }, index) => (
            <col key={id} style={index === 0 ? undefined : { inlineSize: widths[index - 1] }} />
          ))}
        </colgroup>
        <thead className={styles.head}>
          <tr>
            {onSelect !== undefined && (
              <th scope="col" className={styles.check}>
                <SelectAll keys={keys} selected={selected} onSelect={onSelect} />
              </th>
            )}
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} sort={props.sort ?? null} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} className={classes(props.isStale && styles.stale)} onKeyDown={keyDown} onClick={openRow}>
          {rows.map((row, index) => (
            <MemoRow
              key={keys[index]}
              id={keys[index]!}
              row={row}
              columns={columns as readonly Column<unknown>[]}
              href={props.hrefOf(row)}
              name={props.nameOf(row)}
              isActive={index === active}
              isSelected={onSelect === undefined ? undefined : selected.has(keys[index]!)}
              onToggle={onToggle}
              onActive={setActive}
              label={parts.selectRow}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface SelectAllProps {
  readonly keys: readonly string[]
  readonly selected: ReadonlySet<string>
  readonly onSelect: (selected: ReadonlySet<string>) => void
}

/** Selects the rows of the page; those of other pages stay selected. */
function SelectAll({ keys, selected, onSelect }: SelectAllProps) {
  const { parts } = useWords()
  const chosen = keys.filter((key) => selected.has(key)).length
  const others = () => [...selected].filter((key) => !keys.includes(key))
  return (
    <CheckBox
      aria-label={parts.selectAll}
      isSelected={chosen > 0 && chosen === keys.length}
      isPartly={chosen > 0 && chosen < keys.length}
      onChange={(isOn) => onSelect(new Set(isOn ? [...others(), ...keys] : others()))}
    />
  )
}

/** Passes a press on a row to its link, with the same keys held. */
function openRow(event: MouseEvent) {
  const target = event.target as HTMLElement
  if (target.closest('a, button, input, label') !== null || getSelection()?.isCollapsed === false) return
  const { ctrlKey, metaKey, shiftKey } = event
  target
    .closest('tr')
    ?.querySelector('a')
    ?.dispatchEvent(new globalThis.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }))
}

interface HeadCellProps {
  readonly column: Pick<Column<never>, 'id' | 'label' | 'isSortable' | 'align'>
  readonly sort: TableSort | null
  readonly onSort: ((column: string) => void) | undefined
}

function HeadCell({ column: { id, label, isSortable, align }, sort, onSort }: HeadCellProps) {
  const isSorted = sort?.column === id
  const Arrow = isSorted && sort.isDescending ? ArrowDown : ArrowUp
  const direction = isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined
  return (
    <th scope="col" aria-sort={direction} className={classes(align === 'end' && styles.end)}>
      {isSortable && onSort !== undefined ? (
        <button type="button" className={styles.sort} onClick={() => onSort(id)}>
          <span className={styles.clip}>{label}</span>
          <Arrow size={14} className={classes(styles.arrow, isSorted && styles.sorted)} aria-hidden="true" />
        </button>
      ) : (
        <span className={styles.clip}>{label}</span>
      )}
    </th>
  )
}

interface RowProps {
  readonly id: string
  readonly row: unknown
  readonly columns: readonly Column<unknown>[]
  readonly href: string
  readonly name: string
  readonly isActive: boolean
  readonly isSelected: boolean | undefined
  readonly onToggle: (key: string, isSpan: boolean) => void
  readonly onActive: (key: string) => void
  readonly label: (name: string) => string
}

const MemoRow = memo(function TableRow({ id, row, columns, href, name, isActive, isSelected, onToggle, onActive, label }: RowProps) {
  const tabIndex = isActive ? 0 : -1
  const withShift = useRef(false)
  return (
    <tr className={classes(styles.row, isSelected && styles.selected)} onFocus={() => onActive(id)}>
      {isSelected !== undefined && (
        <td className={styles.check}>
          <CheckBox
            tabIndex={tabIndex}
            aria-label={label(name)}
            isSelected={isSelected}
            onClick={(event) => {
              withShift.current = event.shiftKey
            }}
            onChange={() => onToggle(id, withShift.current)}
          />
        </td>
      )}
      {columns.map((column, index) =>
        index === 0 ? (
          <th scope="row" key={column.id} className={styles.main}>
            <Link href={href} tabIndex={tabIndex} className={styles.link} dir="auto">
              {column.cell(row) ?? <Hidden>{name}</Hidden>}
            </Link>
          </th>
        ) : (
          <td key={column.id} className={classes(column.align === 'end' && styles.end)}>
            <div className={styles.clip} dir="auto">
              {column.cell(row)}
            </div>
          </td>
        ),
      )}
    </tr>
  )
})
