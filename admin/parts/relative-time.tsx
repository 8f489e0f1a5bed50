// A timestamp as its distance from now.
import { useSyncExternalStore } from 'react'
import { useFormat, useWords } from './words.js'

/** Milliseconds between two updates of all shown times. */
const step = 30_000

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = Date.now()

function listen(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const one of listeners) one()
    }, step)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The current time, updated every half minute. */
const useNow = (): number => useSyncExternalStore(listen, () => now)

/** A timestamp as its distance from now, with the full time on demand. */
export function RelativeTime({ date }: { readonly date: string | number | Date }) {
  const { parts } = useWords()
  const format = useFormat()
  const current = useNow()
  const at = new Date(date)
  const isRecent = Math.abs(current - at.getTime()) < 60_000
  return (
    <time dateTime={at.toISOString()} title={format.fullTime(at)}>
      {isRecent ? parts.justNow : format.relative(at, new Date(current))}
    </time>
  )
}
