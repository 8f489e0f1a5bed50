// Windows of long lists: only the rows near the visible part and the focused one are drawn, with gaps for the others.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Longest list without a window. */
const longest = 30

/** Pixels drawn above and below the visible part, and scrolled before the rows are chosen again. */
const margin = 400
const step = 100

/** Height of a row until one is measured. */
const usualHeight = 48

/** A part of a list: a row by its index, or the height of rows that are not drawn. */
type WindowPart = { readonly index: number } | { readonly gap: number }

/** The window of a list, whose rows have their keys in `data-row`. */
interface ListWindow {
  readonly isLong: boolean
  readonly list: RefObject<HTMLUListElement | null>
  readonly parts: readonly WindowPart[]
  /** Keeps a row drawn while it has the focus or is dragged. */
  readonly keep: (target: EventTarget) => void
}

/** Draws a part of a long list, and short ones whole. */
export function useWindow(keys: readonly string[]): ListWindow {
  const isLong = keys.length > longest
  const list = useRef<HTMLUListElement>(null)
  const heights = useRef(new Map<string, number>())
  const [view, setView] = useState({ top: 0, height: 0, measured: 0 })
  const [kept, setKept] = useState<string | null>(null)
  useLayoutEffect(() => {
    if (!isLong || list.current === null) return
    const before = heights.current.size
    for (const { dataset, offsetHeight } of list.current.querySelectorAll<HTMLElement>(':scope > [data-row]'))
      heights.current.set(dataset.row!, offsetHeight)
    const measured = heights.current.size
    if (measured !== before) setView((present) => ({ ...present, measured }))
  })
  useEffect(() => {
    const element = list.current
    if (!isLong || element === null) return
    const note = () => {
      const [top, height] = [Math.floor(element.scrollTop / step) * step, element.clientHeight]
      setView((present) => (present.top === top && present.height === height ? present : { ...present, top, height }))
    }
    const observer = new ResizeObserver(note)
    observer.observe(element)
    element.addEventListener('scroll', note, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', note)
    }
  }, [isLong])
  const parts = isLong ? chooseRows(keys, heights.current, view, kept) : keys.map((_, index) => ({ index }))
  const keep = (target: EventTarget) => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
    if (row !== null) setKept(row.dataset.row ?? null)
  }
  return { isLong, list, parts, keep }
}

function chooseRows(
  keys: readonly string[],
  heights: ReadonlyMap<string, number>,
  { top, height }: { readonly top: number; readonly height: number },
  kept: string | null,
): readonly WindowPart[] {
  let sum = 0
  for (const one of heights.values()) sum += one
  const usual = heights.size === 0 ? usualHeight : sum / heights.size
  const parts: WindowPart[] = []
  let [at, gap] = [0, 0]
  const close = () => {
    if (gap > 0) parts.push({ gap })
    gap = 0
  }
  keys.forEach((key, index) => {
    const own = heights.get(key) ?? usual
    if (key === kept || (at + own > top - margin && at < top + step + height + margin)) {
      close()
      parts.push({ index })
    } else gap += own
    at += own
  })
  close()
  return parts
}
