// JSON as a collapsible tree. Collapsed parts are not rendered, so that a response of a megabyte appears at once.

/** Levels that are open at first. */
const openLevels = 3
/** Entries of a list or object before the button for more. */
const shownEntries = 50
/** Entries with more members begin closed. */
const longEntry = 10

/** Returns the path of a document of the list, or null. */
type PathOf = (documentId: string) => string | null

type TreeEntry = readonly [key: string | null, value: unknown]

/** Shows a value; documentIds become links where `pathOf` knows a path. */
export function jsonTree(value: unknown, pathOf: PathOf): HTMLElement {
  const tree = document.createElement('div')
  // An object's own braces would be a line that says nothing.
  addEntries(tree, isBranch(value) && !Array.isArray(value) ? Object.entries(value) : [[null, value]], 1, pathOf)
  return tree
}

/** True for objects and lists that have something in them. */
const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null && Object.keys(value).length > 0

/** Adds entries, the first ones immediately and the others on request. */
function addEntries(to: HTMLElement, entries: readonly TreeEntry[], level: number, pathOf: PathOf): void {
  for (const [key, value] of entries.slice(0, shownEntries))
    to.append(isBranch(value) ? branch(key, value, level, pathOf) : leaf(key, value, pathOf))
  const rest = entries.slice(shownEntries)
  if (rest.length === 0) return
  const more = element('button', 'more', `${rest.length} more`)
  more.setAttribute('type', 'button')
  more.addEventListener('click', () => {
    more.remove()
    addEntries(to, rest, level, pathOf)
  })
  to.append(more)
}

/** An object or list that opens and closes. */
function branch(key: string | null, value: object, level: number, pathOf: PathOf): HTMLElement {
  const isList = Array.isArray(value)
  const entries: readonly TreeEntry[] = isList ? value.map((entry) => [null, entry]) : Object.entries(value)
  const [begin, end] = isList ? ['[', ']'] : ['{', '}']
  const what = isList ? `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}` : '…'
  const summary = element('summary')
  summary.append(
    ...named(key),
    ...(isList ? [] : createThumbnail(value)),
    element('span', 'mark', begin),
    element('span', 'closed', ` ${what} ${end} ${isList ? '' : getLabel(value)}`),
  )
  const details = element('details', 'branch')
  details.append(summary)
  const make = (): void => {
    if (details.childElementCount > 1 || !details.open) return
    const inner = element('div', 'inner')
    addEntries(inner, entries, level + 1, pathOf)
    details.append(inner, element('div', 'end mark', end))
  }
  details.addEventListener('toggle', make)
  details.open = level <= openLevels && (level < openLevels || entries.length <= longEntry)
  make()
  return details
}

/** The small picture of a file, if this service has it: the page loads nothing from elsewhere. */
function createThumbnail(value: object): readonly (HTMLElement | string)[] {
  const { mime, formats, alternativeText } = value as Readonly<Record<string, unknown>>
  const { thumbnail } = (formats ?? {}) as { readonly thumbnail?: { readonly url?: unknown } }
  const url = thumbnail?.url
  if (typeof mime !== 'string' || !mime.startsWith('image/') || typeof url !== 'string' || !/^\/(?!\/)/.test(url)) return []
  const picture = element('img', 'thumbnail')
  picture.loading = 'lazy'
  picture.alt = typeof alternativeText === 'string' ? alternativeText : ''
  picture.src = url
  return [picture, ' ']
}

function getLabel(value: object): string {
  const known = value as Readonly<Record<string, unknown>>
  const label = ['title', 'name', 'label', 'heading', '__component', 'documentId', 'url'].find((name) => typeof known[name] === 'string')
  return label === undefined ? '' : String(known[label]).slice(0, 60)
}

function leaf(key: string | null, value: unknown, pathOf: PathOf): HTMLElement {
  const line = element('div', 'leaf')
  line.append(...named(key), scalar(key, value, pathOf))
  return line
}

function scalar(key: string | null, value: unknown, pathOf: PathOf): HTMLElement {
  if (typeof value !== 'string') return element('span', value === null ? 'nothing' : typeof value, JSON.stringify(value))
  const path = key === 'documentId' ? pathOf(value) : null
  if (path !== null) return link(path, value, true)
  if (/^(?:https?:\/\/|\/uploads\/)\S+$/.test(value)) return link(value, value, false)
  return element('span', 'string', JSON.stringify(value))
}

function link(href: string, text: string, isRequest: boolean): HTMLElement {
  const anchor = element('a', '', text)
  anchor.href = href
  if (isRequest) anchor.dataset.request = ''
  else anchor.rel = 'noreferrer'
  return anchor
}

const named = (key: string | null): readonly (string | Node)[] => (key === null ? [] : [element('span', 'key', key), ': '])

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, kind = '', text = ''): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.className = kind
  made.textContent = text
  return made
}
