// The state of a list in its address.
import { useCallback, useMemo, useRef } from 'react'
import { useLocation, useSearch } from 'wouter'
import { addresses, type ListState, readListState } from '../../addresses.js'

/** Changes the address; another selection begins at its first page. */
export type ChangeList = (change: Partial<ListState>, isReplaced?: boolean) => void

/** The state of the address, and the way to change it. */
export function useListState(type: string): readonly [ListState, ChangeList] {
  const search = useSearch()
  const [, navigate] = useLocation()
  const state = useMemo(() => readListState(search), [search])
  const latest = useRef(state)
  latest.current = state
  const change = useCallback<ChangeList>(
    (part, isReplaced = false) =>
      navigate(addresses.list(type, { ...latest.current, after: null, before: null, ...part }), { replace: isReplaced }),
    [navigate, type],
  )
  return [state, change]
}
