// The list of a type: rows by cursors, with everything that selects them in the address.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addresses, type ListState } from '../../addresses.js'
import { announce } from '../../parts/announce.js'
import { Button, buttonClass } from '../../parts/button.js'
import { EmptyState } from '../../parts/empty-state.js'
import { ErrorState } from '../../parts/error-state.js'
import { Skeleton } from '../../parts/skeleton.js'
import { Table, type TableHandle } from '../../parts/table.js'
import { useFormat, useWords } from '../../parts/words.js'
import type { Data } from '../../server/client.js'
import { listQuery, mayIn, startQuery, totalQuery, typeQuery } from '../../server/queries.js'
import { type ScreenAction, useScreenActions } from '../shell/actions.js'
import { FailedScreen } from '../shell/screen-boundary.js'
import { useTitle } from '../shell/title.js'
import { listName } from '../shell/type-names.js'
import { type LocaleInfo, type Row, rowName, useColumns } from './columns.js'
import styles from './list.module.css'
import { hasPart, orderOf, rowsQuery, rowsSelection, shownColumns, sortKey, type TypeInfo, tabsSelection } from './list-query.js'
import { type ChangeList, useListState } from './list-state.js'
import { ListTools, ViewMenu } from './list-tools.js'
import { Pages, type Total } from './pages.js'
import { useListKeys } from './use-list-keys.js'
import { ViewsMenu } from './views.js'

/** The list of a type. */
export default function ListScreen({ type }: { readonly type: string }): ReactNode {
  const start = useQuery(startQuery())
  const info = useQuery(typeQuery(type))
  const known = start.data?.data.types.find(({ uid }) => uid === type)
  const naming = known?.naming ?? null
  const described = info.data?.data
  const name = known === undefined ? undefined : listName(known)
  const whole = useMemo(
    () => (described === undefined ? undefined : { ...described, naming, displayName: name ?? described.displayName }),
    [described, naming, name],
  )
  useTitle(name ?? type)
  if (whole !== undefined && start.data !== undefined) return <List key={type} type={whole} start={start.data.data} />
  if (info.error !== null) return <FailedScreen error={info.error} onRetry={() => void info.refetch()} />
  return (
    <section className={styles.screen}>
      <header className={styles.head}>
        <h1 className={styles.title}>{name ?? type}</h1>
      </header>
      <div className={styles.card}>
        <Loading />
      </div>
    </section>
  )
}

interface ListProps {
  readonly type: TypeInfo
  readonly start: Data<'/start', 'GET'>
}

/** Rows and totals of the address: one total for each tab. */
function useRowsOf(type: TypeInfo, state: ListState, me: number) {
  const day = new Date().toDateString()
  const context = useMemo(() => ({ me, today: new Date(day) }), [me, day])
  const rows = useQuery({ ...listQuery(type.uid, rowsQuery(type, state, context)), placeholderData: keepPreviousData })
  const by = type.draftAndPublish ? { by: 'state' } : {}
  const totals = useQuery({
    ...totalQuery(type.uid, { ...tabsSelection(type, state, context), ...by }),
    placeholderData: keepPreviousData,
  })
  const counted = totals.data?.data
  const total = state.state === null ? counted : counted?.states?.[state.state as 'draft']
  const selection = useMemo(() => rowsSelection(type, state, context), [type, state, context])
  const isSettled = !rows.isPlaceholderData && !totals.isPlaceholderData
  return { rows, total: total ?? null, states: counted, selection, isSettled }
}

const BulkBar = lazy(() => import('./bulk-bar.js'))
const RowSummary = lazy(() => import('./row-summary.js'))

const noRows: readonly Row[] = []

/** The selected documents with their names; rows of other pages stay selected. */
function useSelection(words: ReturnType<typeof useWords>, type: TypeInfo, rows: readonly Row[]) {
  const [selected, select] = useState<ReadonlySet<string>>(new Set<string>())
  const names = useRef(new Map<string, string>())
  for (const row of rows) names.current.set(row.documentId, rowName(words, type, row))
  return { selected, select, names: names.current }
}

const keyOf = (row: Row) => row.documentId

function List({ type, start }: ListProps): ReactNode {
  const words = useWords()
  const [state, change] = useListState(type.uid)
  const { rows, total, states, selection, isSettled } = useRowsOf(type, state, start.me.id)
  const data = (rows.data?.data as readonly Row[] | undefined) ?? noRows
  const { selected, select, names } = useSelection(words, type, data)
  const columnNames = shownColumns(type, state.columns)
  const columns = useColumns(type, columnNames, start.locales)
  const order = orderOf(type, state.sort)
  const table = useRef<TableHandle>(null)
  const search = useRef<HTMLInputElement>(null)
  const [isFiltering, setFiltering] = useState(false)
  const [peeked, peek] = useState<Row | null>(null)
  const [, navigate] = useLocation()
  const mayCreate = mayIn(type, 'create', type.localized ? state.locale : null)
  const create = addresses.create(type.uid, state.locale)
  const isFilterable = hasPart(type, 'filterable')
  const isBulkable = hasPart(type, 'bulkable')

  useListKeys({
    search,
    table,
    onFilter: isFilterable ? () => setFiltering(true) : undefined,
    onCreate: mayCreate ? () => navigate(create) : undefined,
    onSelectAll: isBulkable ? () => select(new Set([...selected, ...data.map(keyOf)])) : undefined,
    onClear: () => select(new Set()),
  })
  const actions = useMemo<readonly ScreenAction[]>(
    () => [
      ...(mayCreate ? [{ id: 'create', label: words.list.createIn(type.displayName), keys: 'n', run: () => navigate(create) }] : []),
      ...(isFilterable ? [{ id: 'filter', label: words.list.filterIn(type.displayName), keys: 'f', run: () => setFiltering(true) }] : []),
    ],
    [mayCreate, isFilterable, words, type, create, navigate],
  )
  useScreenActions(actions)
  useSaid(total, isSettled, state)

  const onSort = (column: string) => {
    const key = sortKey(type, column)
    if (key !== null) change({ sort: `${key}:${order.key === key && !order.isDescending ? 'desc' : 'asc'}` })
  }
  const sorted = columnNames.find((name) => sortKey(type, name) === order.key)
  const hrefOf = (row: Row) => addresses.document(type.uid, row.documentId, type.localized ? state.locale : null)
  return (
    <section className={styles.screen} data-density={state.density ?? undefined}>
      <header className={styles.head}>
        <h1 className={styles.title}>{type.displayName}</h1>
        <div className={styles.actions}>
          <ViewMenu type={type} state={state} change={change} locales={start.locales} columns={columnNames} />
          {mayCreate && (
            <Link href={create} className={buttonClass('main')}>
              <Plus aria-hidden="true" />
              <span>{words.list.create}</span>
            </Link>
          )}
        </div>
      </header>
      <ListTools
        type={type}
        state={state}
        states={states}
        change={change}
        search={search}
        isFiltering={isFiltering}
        setFiltering={setFiltering}
        views={<ViewsMenu type={type} state={state} change={change} me={start.me} />}
      />
      <div className={styles.card}>
        {data.length > 0 ? (
          <Table
            ref={table}
            label={type.displayName}
            columns={columns}
            rows={data}
            keyOf={keyOf}
            nameOf={(row) => names.get(row.documentId) ?? row.documentId}
            hrefOf={hrefOf}
            sort={sorted === undefined ? null : { column: sorted, isDescending: order.isDescending }}
            onSort={onSort}
            onPeek={peek}
            selected={selected}
            onSelect={isBulkable ? select : undefined}
            isStale={rows.isPlaceholderData}
          />
        ) : (
          <Nothing
            type={type}
            state={state}
            change={change}
            rows={rows}
            isSettled={isSettled}
            create={mayCreate ? create : null}
            locales={start.locales}
            selection={selection}
          />
        )}
      </div>
      <Suspense>
        {selected.size > 0 && (
          <BulkBar
            type={type}
            state={state}
            locales={start.locales}
            selection={selection}
            selected={selected}
            names={names}
            pageKeys={data.map(keyOf)}
            total={total}
            onClear={() => {
              select(new Set())
              table.current?.focusRow(0)
            }}
          />
        )}
        {peeked !== null && (
          <RowSummary type={type} row={peeked} name={rowName(words, type, peeked)} href={hrefOf(peeked)} onClose={() => peek(null)} />
        )}
      </Suspense>
      {data.length > 0 && <Pages meta={rows.data?.meta ?? null} total={total} change={change} />}
    </section>
  )
}

/** Announces the number of results after a search or another filter. */
function useSaid(total: Total | null, isSettled: boolean, state: ListState): void {
  const words = useWords()
  const key = JSON.stringify([state.q, state.filters, state.state])
  const said = useRef(key)
  useEffect(() => {
    if (!isSettled || total === null || said.current === key) return
    said.current = key
    announce(total.exact ? words.parts.found(total.total) : words.list.manyTotal(total.total))
  }, [key, isSettled, total, words])
}

const Loading = () => (
  <div className={styles.loading}>
    <Skeleton lines={10} />
  </div>
)

interface NothingProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly change: ChangeList
  readonly selection: ReturnType<typeof rowsSelection>
  readonly rows: {
    readonly isError: boolean
    readonly isPending: boolean
    readonly isFetching: boolean
    readonly refetch: () => unknown
  }
  /** Rows and totals are those of the address, not earlier ones. */
  readonly isSettled: boolean
  readonly create: string | null
  readonly locales: readonly LocaleInfo[]
}

function Nothing({ type, state, change, selection, rows, isSettled, create, locales }: NothingProps): ReactNode {
  const { list } = useWords()
  const format = useFormat()
  if (rows.isError) return <ErrorState onRetry={() => void rows.refetch()} isBusy={rows.isFetching} />
  if (rows.isPending) return <Loading />
  if (state.q !== '' || state.filters !== null || state.state !== null)
    return (
      <EmptyState title={list.noMatch} text={list.noMatchText}>
        <Button onPress={() => change({ q: '', filters: null, state: null })}>{list.clearFilters}</Button>
        {type.localized && locales.length > 1 && (
          <Elsewhere type={type} state={state} selection={selection} locales={locales} isSettled={isSettled} />
        )}
      </EmptyState>
    )
  const locale = locales.find(({ code }) => code === state.locale)
  return (
    <EmptyState
      title={list.empty(type.displayName)}
      text={locale === undefined || locale.isDefault ? list.emptyText : list.emptyLanguage(format.languageName(locale.code))}
    >
      {create !== null && (
        <Link href={create} className={buttonClass('main')}>
          <Plus aria-hidden="true" />
          <span>{list.create}</span>
        </Link>
      )}
    </EmptyState>
  )
}

/** Maximum number of languages that are asked. */
const maxLanguages = 5

/** Links to the same search in other languages that have documents. */
function Elsewhere({
  type,
  state,
  selection,
  isSettled,
  locales,
}: Pick<NothingProps, 'type' | 'state' | 'selection' | 'isSettled' | 'locales'>): ReactNode {
  const { list } = useWords()
  const format = useFormat()
  const queries = useQueryClient()
  const others = locales
    .filter(({ code, isDefault }) => (state.locale === null ? !isDefault : code !== state.locale))
    .slice(0, maxLanguages)
  const wanted = others.map(({ code }) => totalQuery(type.uid, { ...selection, locale: code }))
  // One query, so that the links appear together.
  const { data: totals } = useQuery({
    queryKey: wanted.map(({ queryKey }) => queryKey),
    queryFn: () => Promise.all(wanted.map((query) => queries.fetchQuery(query))),
    enabled: isSettled,
  })
  const found = others.flatMap(({ code, isDefault }, index) => {
    const { total = 0, exact = true } = totals?.[index]?.data ?? {}
    const href = addresses.list(type.uid, { ...state, after: null, before: null, locale: isDefault ? null : code })
    return total === 0 ? [] : [{ href, text: list.inLanguage(`${format.number(total)}${exact ? '' : '+'}`, format.languageName(code)) }]
  })
  const sentence = found.length === 0 ? '' : list.elsewhere(found.map(({ text }) => text))
  useEffect(() => {
    if (sentence !== '') announce(sentence)
  }, [sentence])
  return (
    <div className={styles.elsewhere}>
      {found.map(({ href, text }) => (
        <Link key={href} href={href}>
          {text}
        </Link>
      ))}
    </div>
  )
}
