// The palette: types, actions, documents and files by a text, with the keyboard.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { File, FilePlus, FileText, House, LayoutList, type LucideIcon, Search, Zap } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { addresses } from '../../addresses.js'
import { announce } from '../../parts/announce.js'
import { Hidden } from '../../parts/hidden.js'
import { State, type StateName } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { findQuery } from '../../server/queries.js'
import { signOut } from '../../server/session.js'
import { type ScreenAction, useOfferedActions } from './actions.js'
import { NativeDialog } from './native-dialog.js'
import styles from './palette.module.css'
import { setPreference } from './preferences.js'
import { groupTypes, listName, type Start } from './type-names.js'

/** Texts of this length are searched by the service, after a pause. */
const minLength = 2
const pauseMs = 150
/** Results of one kind. */
const maxShown = 8

interface Entry {
  readonly id: string
  readonly label: string
  readonly note?: string
  readonly keys?: string
  readonly lang?: string
  readonly state?: StateName
  /** The address of a picture, in place of the icon. */
  readonly picture?: string
  readonly Icon: LucideIcon
  readonly run: () => void
}

interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

interface PaletteProps {
  readonly start: Start
  readonly onClose: () => void
  readonly onKeyList: () => void
}

const plain = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** True if all words of the text begin a word of the label. */
const matches = (label: string, text: string): boolean => {
  const words = plain(label).split(/[^\p{L}\p{N}]+/u)
  return plain(text)
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)))
}

function useDebounced(text: string): string {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Closes the palette, then acts. */
const closing = (onClose: () => void, act: () => unknown) => () => {
  onClose()
  act()
}

/** Pages and actions, without a request. */
function useOwnGroups({ start, onClose, onKeyList }: PaletteProps, text: string): readonly Group[] {
  const { shell } = useWords()
  const { compare } = useFormat()
  const [, navigate] = useLocation()
  const offered = useOfferedActions()
  return useMemo(() => {
    const go = (address: string) => closing(onClose, () => navigate(address))
    const types = groupTypes(start.types, compare).flatMap((group) => group.types)
    const pages: readonly Entry[] = [
      { id: 'home', label: shell.home, Icon: House, run: go(addresses.home()) },
      ...types.map((type) => ({ id: `list ${type.uid}`, label: listName(type), Icon: LayoutList, run: go(addresses.list(type.uid)) })),
    ]
    const created = types.filter(({ kind, actions }) => kind === 'collectionType' && actions.includes('create'))
    const create = created.map((type) => ({
      id: `new ${type.uid}`,
      label: shell.palette.newOf(type.displayName),
      Icon: FilePlus,
      run: go(addresses.create(type.uid)),
    }))
    const actions = [...offered, ...generalActions(shell, onKeyList)].map((action) => ({
      ...action,
      Icon: Zap,
      run: closing(onClose, action.run),
    }))
    const filtered = (entries: readonly Entry[]) => (text === '' ? entries : entries.filter(({ label }) => matches(label, text)))
    return [
      {
        title: shell.palette.actions,
        entries: text === '' ? actions.filter(({ id }) => offered.some((one) => one.id === id)) : filtered(actions),
      },
      { title: shell.palette.pages, entries: filtered(pages).slice(0, text === '' ? undefined : maxShown) },
      { title: shell.palette.create, entries: text === '' ? [] : filtered(create).slice(0, maxShown) },
    ]
  }, [start, text, shell, compare, navigate, offered, onClose, onKeyList])
}

type ShellWords = ReturnType<typeof useWords>['shell']

const generalActions = (shell: ShellWords, onKeyList: () => void): readonly ScreenAction[] => [
  ...(['system', 'light', 'dark'] as const).map((theme) => ({
    id: `theme ${theme}`,
    label: `${shell.theme}: ${shell.themes[theme]}`,
    run: () => setPreference('theme', theme),
  })),
  { id: 'keys', label: shell.keys, keys: '?', run: onKeyList },
  { id: 'signOut', label: shell.signOut, run: () => void signOut().catch(() => {}) },
]

/** Documents and files that the service finds. */
function useFoundGroups({ onClose }: Pick<PaletteProps, 'onClose'>, text: string) {
  const { shell } = useWords()
  const [, navigate] = useLocation()
  const wanted = useDebounced(text)
  const isEnabled = wanted.length >= minLength && text.length >= minLength
  const { data, isFetching, isError } = useQuery({ ...findQuery(wanted), enabled: isEnabled, placeholderData: (before) => before })
  const groups = useMemo((): readonly Group[] => {
    if (!isEnabled || data === undefined) return []
    const { documents, files } = data.data
    return [
      {
        title: shell.palette.documents,
        entries: documents.map(({ type, documentId, locale, name, displayName, thumbnail, state }) => ({
          id: `document ${type} ${documentId}`,
          label: name || shell.startPage.untitled,
          note: displayName,
          state,
          picture: thumbnail?.url,
          lang: locale ?? undefined,
          Icon: FileText,
          run: closing(onClose, () => navigate(addresses.document(type, documentId, locale))),
        })),
      },
      {
        title: shell.palette.files,
        entries: files.map(({ id, name, mime, url, thumbnail }) => ({
          id: `file ${id}`,
          label: name,
          picture: mime?.startsWith('image/') === true ? thumbnail?.url : undefined,
          Icon: File,
          run: closing(onClose, () => url !== null && window.open(url, '_blank', 'noopener')),
        })),
      },
    ]
  }, [data, isEnabled, shell, navigate, onClose])
  return {
    groups,
    isSearching: text.length >= minLength && (isFetching || wanted !== text),
    isError: isEnabled && isError,
    isComplete: data?.data.isComplete ?? true,
  }
}

export default function Palette(props: PaletteProps): ReactNode {
  const { shell } = useWords()
  const { palette } = shell
  const [text, setText] = useState('')
  const trimmed = text.trim()
  const own = useOwnGroups(props, trimmed)
  const found = useFoundGroups(props, trimmed)
  const groups = useMemo(() => [...own, ...found.groups].filter(({ entries }) => entries.length > 0), [own, found.groups])
  const entries = useMemo(() => groups.flatMap((group) => group.entries), [groups])
  const [chosen, choose] = useState<string | null>(null)
  const active = entries.find(({ id }) => id === chosen) ?? entries[0]
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const optionId = (entry: Entry) => `${id}-${entries.indexOf(entry)}`
  useCancelledFinds()
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  })
  useEffect(() => {
    if (trimmed !== '' && !found.isSearching) announce(palette.results(entries.length))
  }, [trimmed, found.isSearching, entries.length, palette])
  const onKeyDown = (event: KeyboardEvent) => {
    const at = active === undefined ? -1 : entries.indexOf(active)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key]
    if (to !== undefined && entries.length > 0) {
      event.preventDefault()
      const isStep = event.key.startsWith('Arrow')
      const index = isStep ? (to + entries.length) % entries.length : Math.max(0, Math.min(entries.length - 1, to))
      choose(entries[index]!.id)
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      active?.run()
    }
  }
  const remark = found.isError
    ? palette.failed
    : found.isSearching
      ? palette.searching
      : entries.length === 0
        ? palette.nothing(trimmed)
        : trimmed.length < minLength
          ? palette.tooShort
          : found.isComplete
            ? ''
            : palette.incomplete
  return (
    <NativeDialog label={palette.label} className={styles.palette} onClose={props.onClose}>
      <div className={styles.field}>
        <Search size={18} aria-hidden="true" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the window has one field
          autoFocus
          role="combobox"
          aria-label={palette.label}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : optionId(active)}
          placeholder={palette.placeholder}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            choose(null)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div ref={list} id={id} role="listbox" aria-label={palette.label} className={styles.list} tabIndex={-1}>
        {groups.map(({ title, entries: inGroup }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options
          <div key={title} role="group" aria-label={title}>
            <p className={styles.title} aria-hidden="true">
              {title}
            </p>
            {inGroup.map((entry) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
              <div
                key={entry.id}
                id={optionId(entry)}
                role="option"
                tabIndex={-1}
                aria-selected={entry === active}
                className={styles.option}
                onClick={entry.run}
                onPointerMove={() => entry !== active && choose(entry.id)}
              >
                {entry.picture === undefined ? (
                  <entry.Icon size={16} aria-hidden="true" />
                ) : (
                  <img src={entry.picture} alt="" width={24} height={24} loading="lazy" />
                )}
                <span className={styles.label} lang={entry.lang} dir="auto">
                  {entry.label}
                </span>
                {entry.state !== undefined && <State state={entry.state} isQuiet />}
                {entry.note !== undefined && <small>{entry.note}</small>}
                {entry.keys !== undefined && <kbd>{entry.keys}</kbd>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className={styles.remark}>{remark === '' ? <Hidden>{palette.results(entries.length)}</Hidden> : remark}</p>
    </NativeDialog>
  )
}

/** Searches that are under way end with the palette. */
function useCancelledFinds(): void {
  const queries = useQueryClient()
  useEffect(() => () => void queries.cancelQueries({ queryKey: ['/find'] }), [queries])
}
