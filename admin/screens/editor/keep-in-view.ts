// Keeps a field in view when a column is added, removed, or changes its language, since the heights of fields above it change.

/** Milliseconds to compensate for fields that load late. */
const longest = 3_000

/** Space between the head of the screen and a field whose beginning was above it. */
const space = 16

/** Input that ends it. */
const acts = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

interface Place {
  readonly path: string
  readonly top: number
}

const topOf = (id: string): number | undefined => document.getElementById(id)?.getBoundingClientRect().top

/** The first field of the form that begins in the visible part, otherwise the one that fills it: its beginning comes into view. */
function placeInView(panes: HTMLElement, prefix: string, head: number): Place | null {
  const places = [...panes.querySelectorAll<HTMLElement>(`[id^="${prefix}"][id$="-label"]`)].flatMap((label) => {
    const path = label.id.slice(prefix.length, -'-label'.length)
    return path.includes('/') ? [] : [{ path, top: label.getBoundingClientRect().top }]
  })
  const visible = places.find(({ top }) => top >= head && top < innerHeight - 2 * space)
  const above = places.findLast(({ top }) => top < head)
  return visible ?? (above === undefined ? null : { ...above, top: head + space })
}

/** Keeps the field in view where it is; in stacked columns, brings it into view in the second one. */
export function keepInView(panes: HTMLElement, prefix: string, beside: string | null): void {
  if (scrollY === 0) return
  const header = panes.closest('main')?.querySelector('header')
  // On a phone only one line of the header stays in view.
  const lines = header == null ? [] : [header, ...header.children]
  const head = Math.max(0, ...lines.map((line) => line.getBoundingClientRect().bottom))
  const place = placeInView(panes, prefix, head)
  if (place === null) return
  const scroll = () => {
    const [main, other] = [prefix, beside].map((one) => (one === null ? undefined : topOf(`${one}${place.path}-label`)))
    const isBelow = other !== undefined && getComputedStyle(panes).gridTemplateColumns.split(' ').length === 1
    const by = isBelow ? other - head - space : (main ?? place.top) - place.top
    if (by !== 0) scrollBy({ top: by, behavior: 'instant' })
  }
  const observer = new ResizeObserver(scroll)
  const end = () => {
    observer.disconnect()
    clearTimeout(timer)
    for (const act of acts) removeEventListener(act, end, true)
  }
  const timer = setTimeout(end, longest)
  for (const act of acts) addEventListener(act, end, { capture: true, passive: true })
  observer.observe(panes)
}
