// The slash menu: `/` at the start of a paragraph lists kinds of blocks, filtered by the typed text.

import type { Command, EditorState } from 'prosemirror-state'
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react'
import { classes } from '../parts/classes.js'
import styles from './slash-menu.module.css'

/** An entry of the menu. */
export interface SlashItem {
  readonly name: string
  readonly label: string
  /** Typed text that makes the same. */
  readonly shortcut?: string
  readonly icon: ReactNode
  readonly run: () => void
}

/** The typed filter with its start in the document. Null: no menu. */
function slashAt(state: EditorState): { readonly from: number; readonly filter: string } | null {
  const { $from, empty } = state.selection
  if (!empty || $from.parent.type.name !== 'paragraph' || $from.depth !== 1) return null
  const [, filter] = /^\/([\p{L}\d ]{0,20})$/u.exec($from.parent.textBetween(0, $from.parentOffset, undefined, '\n')) ?? []
  return filter === undefined ? null : { from: $from.start(), filter }
}

/** Removes the typed text of the menu. */
export const withoutSlash: Command = (state, dispatch) => {
  const slash = slashAt(state)
  if (slash !== null) dispatch?.(state.tr.delete(slash.from, state.selection.from))
  return true
}

/** Items whose label contains the filter. */
const filtered = (items: readonly SlashItem[], filter: string): readonly SlashItem[] =>
  items.filter(({ label, name }) => `${label} ${name}`.toLocaleLowerCase().includes(filter.trim().toLocaleLowerCase()))

/** Identifier of an item in the document. */
export const slashItemId = (menu: string, name: string): string => `${menu}-${name}`

interface SlashMenuProps {
  readonly id: string
  readonly label: string
  readonly menu: OpenSlashMenu
  readonly position: CSSProperties
}

/** The list of items at the cursor; the focus stays in the text. */
export function SlashMenu({ id, label, menu, position }: SlashMenuProps) {
  const list = useRef<HTMLDivElement>(null)
  const { items, active, setActive } = menu
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <div ref={list} id={id} role="listbox" aria-label={label} className={styles.menu} style={position} tabIndex={-1}>
      {items.map(({ name, label: text, shortcut, icon, run }, index) => (
        <div
          key={name}
          id={slashItemId(id, name)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={classes(styles.item, index === active && styles.active)}
          onPointerMove={() => setActive(index)}
          // The focus stays in the text.
          onMouseDown={(event) => {
            event.preventDefault()
            run()
          }}
        >
          {icon}
          <span className={styles.label}>{text}</span>
          {shortcut !== undefined && <kbd className={styles.shortcut}>{shortcut}</kbd>}
        </div>
      ))}
    </div>
  )
}

/** The items of an open menu, the active one, and the keys. */
interface OpenSlashMenu {
  readonly from: number
  readonly items: readonly SlashItem[]
  readonly active: number
  readonly setActive: (index: number) => void
  readonly onKey: (event: KeyboardEvent) => boolean
}

/** The menu at the cursor; null: it is closed. */
export function useSlashMenu(state: EditorState | null, items: readonly SlashItem[]): OpenSlashMenu | null {
  const slash = state === null ? null : slashAt(state)
  const [dismissed, setDismissed] = useState(-1)
  const [chosen, setChosen] = useState({ filter: '', index: 0 })
  if (slash === null) {
    if (dismissed !== -1) setDismissed(-1)
    return null
  }
  const found = filtered(items, slash.filter)
  if (found.length === 0 || slash.from === dismissed) return null
  // Another filter begins at its first item.
  const active = chosen.filter === slash.filter ? Math.min(chosen.index, found.length - 1) : 0
  const setActive = (index: number) => setChosen({ filter: slash.filter, index })
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.isComposing) return false
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setActive((active + step + found.length) % found.length)
    else if (event.key === 'Enter' || event.key === 'Tab') found[active]!.run()
    else if (event.key === 'Escape') setDismissed(slash.from)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  return { from: slash.from, items: found, active, setActive, onKey }
}
