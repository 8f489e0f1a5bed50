// Order by mouse, touch and keys: Alt with arrows, Home and End moves the item with the focus.
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef } from 'react'
import { announce } from './announce.js'
import { useWords } from './words.js'

/** Items that can be moved within their list. */
interface SortableOptions {
  readonly ids: readonly string[]
  /** Name of an item for screen readers. */
  readonly labelOf: (id: string) => string
  /** Moves an item to a position in the list without it. */
  readonly onMove: (id: string, to: number) => void
  /** Items that wrap, such as pictures, are placed by both axes. */
  readonly isGrid?: boolean
  readonly isDisabled?: boolean
}

/**
 * Attributes of the items and their handles. An item has `data-dragging` while it is dragged; the item at the pointer has
 * `data-drop="before"` or `"after"`.
 */
export interface Sortable {
  readonly item: (id: string) => {
    readonly ref: (element: HTMLElement | null) => void
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  }
  readonly handle: (id: string) => {
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void
    readonly style: { readonly touchAction: 'none' }
    readonly title: string
    readonly 'aria-label': string
  }
  /** Moves an item and announces it. */
  readonly moveTo: (id: string, to: number) => void
}

/** Pixels of movement that begin a drag: less is a press. */
const threshold = 4

/** Pixels from an edge of the scrolled area, and pixels of each step of scrolling there. */
const edge = 48
const scrollStep = 12

const isEditable = (target: EventTarget) =>
  target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable=true]') !== null

/** Nearest scrolled ancestor, or the page. */
function scrolledBy(element: HTMLElement): Element {
  for (let at = element.parentElement; at !== null; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at
  return document.scrollingElement ?? document.documentElement
}

interface Box {
  readonly id: string
  readonly element: HTMLElement
  readonly rect: DOMRect
}

/** True for an item before the pointer. */
function isBefore({ rect, element }: Box, x: number, y: number, isGrid: boolean): boolean {
  if (!isGrid) return rect.top + rect.height / 2 < y
  const middle = rect.left + rect.width / 2
  const isPast = getComputedStyle(element).direction === 'rtl' ? middle > x : middle < x
  return rect.bottom < y || (rect.top <= y && isPast)
}

/** One drag: from the press on a handle to its release. */
function drag(
  start: PointerEvent<HTMLElement>,
  id: string,
  elements: ReadonlyMap<string, HTMLElement>,
  { ids, isGrid = false }: SortableOptions,
  done: (to: number | null) => void,
): () => void {
  const own = elements.get(id)
  if (own === undefined) return () => {}
  const others = ids.filter((other) => other !== id)
  const area = scrolledBy(own)
  const pointer = { x: start.clientX, y: start.clientY }
  let to: number | null = null
  let frame = 0
  let isDragging = false

  const unmark = () => {
    for (const element of elements.values()) delete element.dataset.drop
  }
  const mark = () => {
    unmark()
    const boxes = others.flatMap((other) => {
      const element = elements.get(other)
      return element === undefined ? [] : [{ id: other, element, rect: element.getBoundingClientRect() }]
    })
    // Only a part of a long list is drawn.
    const next = boxes[boxes.filter((box) => isBefore(box, pointer.x, pointer.y, isGrid)).length]
    const at = next ?? boxes.at(-1)
    to = at === undefined ? null : others.indexOf(at.id) + (next === undefined ? 1 : 0)
    if (next !== undefined) next.element.dataset.drop = 'before'
    else if (at !== undefined) at.element.dataset.drop = 'after'
  }
  const scroll = () => {
    const frameOf = area === document.scrollingElement ? { top: 0, bottom: innerHeight } : area.getBoundingClientRect()
    const by = pointer.y < frameOf.top + edge ? -scrollStep : pointer.y > frameOf.bottom - edge ? scrollStep : 0
    if (by !== 0) {
      area.scrollTop += by
      mark()
    }
    frame = requestAnimationFrame(scroll)
  }
  const move = (event: globalThis.PointerEvent) => {
    if (event.pointerId !== start.pointerId) return
    pointer.x = event.clientX
    pointer.y = event.clientY
    if (!isDragging && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < threshold) return
    if (!isDragging) {
      isDragging = true
      own.dataset.dragging = 'true'
      frame = requestAnimationFrame(scroll)
    }
    event.preventDefault()
    mark()
  }
  const end = (to: number | null) => {
    cancelAnimationFrame(frame)
    controller.abort()
    unmark()
    delete own.dataset.dragging
    done(isDragging ? to : null)
  }
  const controller = new AbortController()
  const { signal } = controller
  document.addEventListener('pointermove', move, { signal, passive: false })
  document.addEventListener('pointerup', (event) => event.pointerId === start.pointerId && end(to), { signal })
  document.addEventListener('pointercancel', () => end(null), { signal })
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || !isDragging) return
      event.preventDefault()
      event.stopPropagation()
      end(null)
    },
    { signal, capture: true },
  )
  return () => end(null)
}

/** Position that a key moves an item to; null for other keys. */
function positionByKey(key: string, from: number, last: number, isGrid: boolean): number | null {
  if (key === 'ArrowUp' || (isGrid && key === 'ArrowLeft')) return from - 1
  if (key === 'ArrowDown' || (isGrid && key === 'ArrowRight')) return from + 1
  if (key === 'Home') return 0
  return key === 'End' ? last : null
}

/** Makes the items of a list movable; says each move. Nested lists do not disturb each other. */
export function useSortable(options: SortableOptions): Sortable {
  const { parts } = useWords()
  const latest = useRef({ options, parts })
  latest.current = { options, parts }
  const stop = useRef<(() => void) | null>(null)
  useEffect(() => () => stop.current?.(), [])
  return useMemo(() => {
    const elements = new Map<string, HTMLElement>()
    const known = new Map<string, ReturnType<Sortable['item']>>()
    const moveTo = (id: string, to: number) => {
      const { ids, labelOf, onMove, isDisabled } = latest.current.options
      const from = ids.indexOf(id)
      if (isDisabled || from === -1 || to === from || to < 0 || to >= ids.length) return
      const focused = document.activeElement
      onMove(id, to)
      announce(latest.current.parts.moved(labelOf(id), to + 1, ids.length))
      // A moved element loses its focus in some browsers.
      requestAnimationFrame(() => {
        if (focused instanceof HTMLElement && focused.isConnected && document.activeElement === document.body) focused.focus()
        elements.get(id)?.scrollIntoView({ block: 'nearest' })
      })
    }
    const makeItem = (id: string): ReturnType<Sortable['item']> => ({
      ref: (element) => {
        if (element === null) elements.delete(id)
        else elements.set(id, element)
      },
      onKeyDown: (event) => {
        if (!event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || isEditable(event.target)) return
        const { ids, isGrid = false } = latest.current.options
        const to = positionByKey(event.key, ids.indexOf(id), ids.length - 1, isGrid)
        if (to === null) return
        event.preventDefault()
        event.stopPropagation()
        moveTo(id, to)
      },
    })
    return {
      moveTo,
      item: (id) => {
        const made = known.get(id) ?? makeItem(id)
        known.set(id, made)
        return made
      },
      handle: (id) => ({
        style: { touchAction: 'none' },
        title: latest.current.parts.dragHint,
        'aria-label': latest.current.parts.drag(latest.current.options.labelOf(id)),
        onPointerDown: (event) => {
          if (event.button !== 0 || latest.current.options.isDisabled) return
          stop.current?.()
          stop.current = drag(event, id, elements, latest.current.options, (to) => {
            stop.current = null
            if (to !== null) moveTo(id, to)
          })
        },
      }),
    }
  }, [])
}
