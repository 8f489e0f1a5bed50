// The page at /docs: reads the description of the API as the visitor may see it, shows it, and sends requests.
import { storeToken, stripBearer, readToken as token } from '../token.js'
import { type ApiDescription, readDescription, type SchemaObject, type ShownOperation } from './description.js'
import { byId, fill, h, prose } from './elements.js'
import { methodMark, operationView } from './operation-view.js'

const { description: source, prefix } = document.body.dataset as { readonly description: string; readonly prefix: string }
const list = byId('list')
const main = byId('main')
const search = byId('search') as HTMLInputElement
const tokenForm = byId('token-form') as HTMLFormElement
const menu = byId('menu') as HTMLDetailsElement
const tokenInput = byId('token') as HTMLInputElement
const tokenState = byId('token-state')

/** On narrow screens the list is collapsed. */
const isNarrow = matchMedia('(max-width: 50rem)')
let description: ApiDescription | null = null
let send: (() => void) | null = null
let shownId: string | null = null

/** Reads the description with the visitor's token, and shows it. */
async function load(): Promise<void> {
  const given = token()
  fill(tokenState, given === '' ? 'Showing public operations' : 'Showing operations of your token')
  byId('forget').hidden = given === ''
  try {
    const response = await fetch(source, { credentials: 'omit', headers: given === '' ? {} : { authorization: `Bearer ${given}` } })
    const body = (await response.json()) as SchemaObject
    if (!response.ok)
      return showProblem(
        response.status === 401 ? 'The token is invalid or has expired.' : `The description is not there (${response.status}).`,
      )
    description = readDescription(body)
    show()
  } catch (error) {
    showProblem(`The description cannot be read: ${(error as Error).message}`)
  }
}

function showProblem(message: string): void {
  description = null
  fill(list)
  fill(main, h('p', { class: 'bad', role: 'alert' }, message))
}

/** Shows the operation in the address, or the overview. */
function show(): void {
  if (description === null) return
  const id = decodeURIComponent(location.hash.slice(1))
  const operation = description.groups.flatMap(({ operations }) => operations).find((one) => one.id === id)
  shownId = operation?.id ?? null
  showNavigation(list, description, search.value, shownId)
  if (operation === undefined) {
    send = null
    const missing = h('p', { class: 'soft', role: 'status' }, 'This operation is not available here. If it needs a token, enter one above.')
    fill(main, id.includes('/') && missing, overview(description))
    document.title = 'API · Octavo'
    return
  }
  const view = operationView(description, operation, { prefix, token, useToken })
  send = view.send
  fill(main, view.element)
  document.title = `${operation.summary} · API · Octavo`
}

function overview({ groups, about }: ApiDescription): HTMLElement {
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0)
  const card = ({ title, operations }: ApiDescription['groups'][number]): HTMLElement =>
    h(
      'li',
      {},
      h('a', { href: getHref(operations[0]!) }, title),
      h('small', {}, ` ${operations.length} operation${operations.length === 1 ? '' : 's'}`),
    )
  return h(
    'article',
    {},
    h('h2', {}, 'Overview'),
    h('p', {}, prose(about)),
    count === 0
      ? h('p', {}, prose('Nothing is public. Enter a token above, or allow something: `npx octavo roles grant public <action>`.'))
      : h('ul', { class: 'cards' }, groups.map(card)),
    h('p', {}, 'Machine-readable: ', h('a', { href: source }, 'openapi.json'), prose(', or `npx octavo openapi --out openapi.json`.')),
  )
}

function useToken(value: string): void {
  storeToken(value)
  tokenInput.value = ''
  void load()
}

tokenForm.addEventListener('submit', (event) => {
  event.preventDefault()
  useToken(stripBearer(tokenInput.value))
})
byId('forget').addEventListener('click', () => useToken(''))
search.addEventListener('input', () => {
  if (description !== null) showNavigation(list, description, search.value, shownId)
})
isNarrow.addEventListener('change', () => {
  menu.open = !isNarrow.matches
})
menu.open = !isNarrow.matches || location.hash === ''
addEventListener('hashchange', () => {
  show()
  menu.open = !isNarrow.matches
  main.querySelector<HTMLElement>('h2')?.focus()
  scrollTo(0, 0)
})
addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    menu.open = true
    search.focus()
  }
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send?.()
  const isInList = event.target === search || list.contains(event.target as Node)
  if (isInList && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    moveFocus(list, event.key === 'ArrowDown' ? 1 : -1, document.activeElement, search.value.trim() !== '')
  }
})
void load()

/** The address of an operation on this page. */
const getHref = ({ id }: ShownOperation): string => `#${encodeURIComponent(id)}`

/** The operations whose names contain every word. */
function filterOperations(operations: readonly ShownOperation[], words: readonly string[]): readonly ShownOperation[] {
  return operations.filter(({ method, path, summary, tags }) => {
    const text = `${method} ${path} ${summary} ${tags.join(' ')}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Shows the operations that fit a search; `current` is the id of the one that is shown. */
function showNavigation(list: HTMLElement, { groups }: ApiDescription, search: string, current: string | null): void {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const shown = groups
    .map((group) => ({ ...group, operations: filterOperations(group.operations, words) }))
    .filter(({ operations }) => operations.length > 0)
  const link = (operation: ShownOperation): HTMLElement =>
    h(
      'li',
      {},
      h(
        'a',
        { href: getHref(operation), 'aria-current': operation.id === current ? 'page' : undefined, title: operation.summary },
        methodMark(operation.method),
        ' ',
        // Long paths break before a slash.
        operation.path.split(/(?=\/)/).map((part) => [h('wbr', {}), part]),
      ),
    )
  const isOpen = (operations: readonly ShownOperation[]): boolean =>
    words.length > 0 || groups.length < 4 || operations.some(({ id }) => id === current)
  fill(
    list,
    shown.map(({ title, operations }) =>
      h(
        'details',
        { open: isOpen(operations) },
        h('summary', {}, title, ' ', h('small', {}, String(operations.length))),
        h('ul', {}, operations.map(link)),
      ),
    ),
    shown.length === 0 && h('p', { class: 'soft', role: 'status' }, words.length > 0 ? 'Nothing fits.' : 'There is nothing to show.'),
  )
}

/** Moves the focus among the links that are shown. */
function moveFocus(list: HTMLElement, step: 1 | -1, from: Element | null, isSearching: boolean): void {
  // The results of a search are one list: its groups are all open.
  const places = isSearching ? 'details[open] a' : 'details[open] a, summary'
  const links = [...list.querySelectorAll<HTMLElement>(places)]
  const index = links.indexOf(from as HTMLElement)
  links[Math.max(0, Math.min(links.length - 1, index + step))]?.focus()
}
