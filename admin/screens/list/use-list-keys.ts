// Keys of a list outside of fields: letters for the search, the filters, a new document, and the rows.
import { type RefObject, useEffect, useRef } from 'react'
import type { TableHandle } from '../../parts/table.js'
import { preference } from '../shell/preferences.js'

interface ListKeys {
  readonly search: RefObject<HTMLInputElement | null>
  readonly table: RefObject<TableHandle | null>
  readonly onFilter: (() => void) | undefined
  readonly onCreate: (() => void) | undefined
  readonly onSelectAll: (() => void) | undefined
  readonly onClear: () => void
}

/** True where letters are text, or keys of something that is open. */
const isTaken = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest(
    'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]',
  ) !== null

/** Listens to the keys of a list while it is shown. */
export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || isTaken(event.target) || document.querySelector('[aria-modal=true], [data-overlay]'))
        return
      const action = actionOf(latest.current, event)
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function actionOf(keys: ListKeys, event: KeyboardEvent): (() => void) | undefined {
  if (event.ctrlKey || event.metaKey) return event.key === 'a' ? keys.onSelectAll : undefined
  const actions: Readonly<Record<string, (() => void) | undefined>> = {
    '/': () => keys.search.current?.select(),
    f: keys.onFilter,
    n: keys.onCreate,
    j: () => keys.table.current?.focusRow(0),
    k: () => keys.table.current?.focusRow(0),
    x: () => keys.table.current?.toggleRow(),
  }
  if (event.key === 'Escape') return keys.onClear
  return preference('letterKeys') === 'off' ? undefined : actions[event.key]
}
