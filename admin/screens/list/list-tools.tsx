// Above a list: the search, tabs by state, filters, and the menu of columns, order and density.
import { ArrowUpDown, Columns3, Languages, ListFilter, Search, X } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { addresses, type ListState } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { classes } from '../../parts/classes.js'
import { IconButton } from '../../parts/icon-button.js'
import { Menu, MenuChoices, MenuItem, MenuLine } from '../../parts/menu.js'
import { TextInput } from '../../parts/text-input.js'
import { useFormat, useWords } from '../../parts/words.js'
import { usePreference } from '../shell/preferences.js'
import { columnLabel, type LocaleInfo } from './columns.js'
import { readConditions, writeConditions } from './conditions.js'
import { FilterEditor } from './filter-editor.js'
import { useConditionText } from './filter-text.js'
import styles from './list.module.css'
import { hasPart, mainField, orderOf, possibleColumns, sortKey, type TypeInfo } from './list-query.js'
import type { ChangeList } from './list-state.js'
import type { Total } from './pages.js'

interface ToolsProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly change: ChangeList
}

interface SearchedProps extends ToolsProps {
  /** The menu of saved views. */
  readonly views: ReactNode
  /** Totals of the tabs. */
  readonly states: TabTotals | undefined
  readonly search: RefObject<HTMLInputElement | null>
  readonly isFiltering: boolean
  readonly setFiltering: (isFiltering: boolean) => void
}

/** The search, the tabs and the filters of a list. */
export function ListTools({ type, state, states, views, change, search, isFiltering, setFiltering }: SearchedProps): ReactNode {
  return (
    <div className={styles.tools}>
      {(hasPart(type, 'searchable') || state.q !== '') && <SearchField q={state.q} change={change} input={search} />}
      {type.draftAndPublish && <StateTabs type={type} state={state} states={states} />}
      <Filters type={type} state={state} change={change} isOpen={isFiltering} setOpen={setFiltering} views={views} />
    </div>
  )
}

/** Milliseconds without a key until the search is sent. */
const pause = 250

interface SearchFieldProps {
  readonly q: string
  readonly change: ChangeList
  readonly input: RefObject<HTMLInputElement | null>
}

/** Keeps the text while it is typed: a key draws nothing but this field. */
function SearchField({ q, change, input }: SearchFieldProps): ReactNode {
  const { list, parts } = useWords()
  const [text, setText] = useState(q)
  const sent = useRef(q)
  // Back and forward change the address without this field.
  if (q !== sent.current) {
    sent.current = q
    if (q !== text.trim()) setText(q)
  }
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === sent.current) return
    const timer = setTimeout(() => {
      sent.current = wanted
      change({ q: wanted }, true)
    }, pause)
    return () => clearTimeout(timer)
  }, [text, change])
  return (
    <search className={styles.search}>
      <TextInput
        ref={input}
        type="search"
        aria-label={list.searchLabel}
        aria-keyshortcuts="/"
        placeholder={parts.search}
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text !== '') setText('')
        }}
        start={<Search aria-hidden="true" />}
        end={
          text === '' ? (
            <span className={styles.key} aria-hidden="true">
              /
            </span>
          ) : (
            <IconButton
              label={parts.clear}
              isSmall
              onPress={() => {
                setText('')
                input.current?.focus()
              }}
            >
              <X />
            </IconButton>
          )
        }
      />
    </search>
  )
}

const tabs = ['all', 'draft', 'changed', 'published'] as const

type TabTotals = Total & { readonly states?: Readonly<Record<'draft' | 'changed' | 'published', Total>> }

function StateTabs({ type, state, states }: Pick<SearchedProps, 'type' | 'state' | 'states'>): ReactNode {
  const { list } = useWords()
  const format = useFormat()
  return (
    <nav className={styles.tabs} aria-label={list.tabs}>
      {tabs.map((tab) => {
        const value = tab === 'all' ? null : tab
        const total = tab === 'all' ? states : states?.states?.[tab]
        return (
          <Link
            key={tab}
            href={addresses.list(type.uid, { ...state, after: null, before: null, state: value })}
            className={classes(styles.tab, state.state === value && styles.current)}
            aria-current={state.state === value ? 'page' : undefined}
          >
            {list.states[tab]}
            <span className={styles.tabTotal}>
              {total !== undefined && format.number(total.total)}
              {total?.exact === false && '+'}
            </span>
          </Link>
        )
      })}
    </nav>
  )
}

interface FiltersProps extends ToolsProps {
  readonly views: ReactNode
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
}

function Filters({ type, state, change, isOpen, setOpen, views }: FiltersProps): ReactNode {
  const { list } = useWords()
  const group = readConditions(state.filters)
  const textOf = useConditionText(type, group, state.locale)
  return (
    <>
      {(hasPart(type, 'filterable') || group.items.length > 0) && (
        <FilterEditor
          type={type}
          locale={state.locale}
          group={group}
          isOpen={isOpen}
          onOpenChange={setOpen}
          onChange={(next) => change({ filters: writeConditions(next) })}
          trigger={
            <Button kind="quiet" icon={<ListFilter />} aria-keyshortcuts="f">
              {list.filter}
            </Button>
          }
        />
      )}
      {views}
      {group.items.length > 0 && (
        <div className={styles.chips}>
          {group.items.map((item, index) => {
            const text = textOf(item)
            return (
              <span key={index} className={styles.chip}>
                <button type="button" className={styles.chipText} onClick={() => setOpen(true)}>
                  {index > 0 && group.join === 'or' && <em>{list.conditions.or.trim()} </em>}
                  {text}
                </button>
                <button
                  type="button"
                  className={styles.chipRemove}
                  aria-label={list.removeFilter(text)}
                  onClick={() => change({ filters: writeConditions({ ...group, items: group.items.filter((one) => one !== item) }) })}
                >
                  <X size={14} aria-hidden="true" />
                </button>
              </span>
            )
          })}
        </div>
      )}
    </>
  )
}

interface ViewMenuProps extends ToolsProps {
  readonly columns: readonly string[]
  readonly locales: readonly LocaleInfo[]
}

/** The language, and the menu of columns, order and density. */
export function ViewMenu({ type, state, change, columns, locales }: ViewMenuProps): ReactNode {
  const words = useWords()
  const format = useFormat()
  const [preferred, prefer] = usePreference('density')
  const { list } = words
  const main = mainField(type)
  const possible = possibleColumns(type).filter((name) => name !== main)
  const choice = (name: string) => ({ value: name, label: columnLabel(words, type, name) })
  const order = orderOf(type, state.sort)
  const keys = [main, ...possible].flatMap((name) => {
    const key = sortKey(type, name)
    return key === null ? [] : [{ value: key, label: columnLabel(words, type, name) }]
  })
  const stay = (part: Partial<ListState>) => change({ ...part, after: state.after, before: state.before }, true)
  const setColumns = (chosen: readonly string[] | null) => stay({ columns: chosen })
  const setDensity = (density: string) => {
    if (state.view === null) prefer(density)
    stay({ density: state.view === null ? null : density })
  }
  const byDefault = locales.find(({ isDefault }) => isDefault)?.code ?? null
  const locale = state.locale ?? byDefault ?? 'en'
  return (
    <>
      {type.localized && locales.length > 1 && (
        <Menu
          label={list.language}
          trigger={
            <Button
              kind="quiet"
              icon={<Languages className={styles.languages} />}
              aria-label={list.languageOf(format.languageName(locale))}
            >
              {format.languageName(locale)}
            </Button>
          }
        >
          <MenuChoices
            label={list.language}
            isSingle
            choices={locales.map(({ code }) => ({ value: code, label: format.languageName(code) }))}
            value={[locale]}
            onChange={([code]) => code !== undefined && change({ locale: code === byDefault ? null : code })}
          />
        </Menu>
      )}
      <Menu
        label={list.sort}
        trigger={
          <IconButton label={list.sort} kind="plain">
            <ArrowUpDown />
          </IconButton>
        }
      >
        <MenuChoices
          label={list.direction}
          isSingle
          choices={[
            { value: 'asc', label: list.ascending },
            { value: 'desc', label: list.descending },
          ]}
          value={[order.isDescending ? 'desc' : 'asc']}
          onChange={([direction]) => direction !== undefined && change({ sort: `${order.key}:${direction}` })}
        />
        <MenuLine />
        <MenuChoices
          label={list.sort}
          isTitled
          isSingle
          choices={keys}
          value={[order.key]}
          onChange={([key]) => key !== undefined && change({ sort: `${key}:${order.isDescending ? 'desc' : 'asc'}` })}
        />
      </Menu>
      <Menu
        label={list.view}
        trigger={
          <IconButton label={list.view} kind="plain">
            <Columns3 />
          </IconButton>
        }
      >
        <MenuChoices
          label={list.density}
          isTitled
          isSingle
          choices={(['comfortable', 'compact'] as const).map((value) => ({ value, label: list.densities[value] }))}
          value={[state.density ?? preferred]}
          onChange={([value]) => value !== undefined && setDensity(value)}
        />
        <MenuLine />
        <MenuChoices
          label={list.columns}
          isTitled
          choices={possible.map(choice)}
          value={columns.filter((name) => name !== main)}
          onChange={(chosen) => setColumns([main, ...possible.filter((name) => chosen.includes(name))])}
        />
        {state.columns !== null && <MenuItem onPress={() => setColumns(null)}>{list.usualColumns}</MenuItem>}
      </Menu>
    </>
  )
}
