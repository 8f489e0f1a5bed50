// Events make cached reads stale: those of lists are read again while they are shown. Open documents merge changes themselves.
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { type PageEvent, subscribeToEvents } from './events.js'

/** Changes of many documents come together. */
const pauseMs = 400

const ofModel: readonly unknown[] = ['/start', '/types/{type}', '/types/{type}/layout']
const document = '/content/{type}/{document}'

/** Marks reads as stale that events concern; returns a function that ends this. */
export function followStale(queries: QueryClient): () => void {
  const changed = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): void => {
    const types = new Set(changed)
    changed.clear()
    timer = undefined
    void queries.invalidateQueries({ predicate: ({ queryKey }) => concerns(queryKey, types) })
    void queries.invalidateQueries({ queryKey: [document], refetchType: 'none' })
  }
  const take = (event: PageEvent): void => {
    if (event.event === 'reset') void queries.invalidateQueries()
    else if (event.event === 'model') void queries.invalidateQueries({ predicate: ({ queryKey }) => ofModel.includes(queryKey[0]) })
    else if (event.event === 'content') {
      changed.add(event.type)
      timer ??= setTimeout(flush, pauseMs)
    }
  }
  const stop = subscribeToEvents(take)
  return () => {
    clearTimeout(timer)
    stop()
  }
}

/** True for lists and totals of a type, and for reads through several types. */
function concerns([path, params]: QueryKey, types: ReadonlySet<string>): boolean {
  if (typeof path !== 'string' || path === document) return false
  if (path === '/find' || path === '/home' || path === '/schedule') return true
  if (!/^\/(?:content|choices)\//.test(path)) return false
  const { type } = (params ?? {}) as { readonly type?: string }
  // Links and uses of a document show documents of other types.
  return type === undefined || types.has(type) || path.startsWith(`${document}/`)
}
