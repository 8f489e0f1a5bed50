// The page at /docs: reads the description of the API as the visitor may see it, shows it, and sends requests.
import { bareToken, keepToken, keptToken as token } from '../token.js'
import { type ApiDescription, readDescription, type SchemaObject } from './description.js'
import { byId, fill, h, prose } from './elements.js'
import { hrefOf, moveFocus, showNavigation } from './navigation.js'
import { operationView } from './operation-view.js'

const { description: source, prefix } = document.body.dataset as { readonly description: string; readonly prefix: string }
const [list, main, search, tokenForm] = [
  byId('list'),
  byId('main'),
  byId('search') as HTMLInputElement,
  byId('token-form') as HTMLFormElement,
]
const menu = byId('menu') as HTMLDetailsElement
const [tokenInput, tokenState] = [byId('token') as HTMLInputElement, byId('token-state')]

/** Where there is no room beside the contents, the list is folded. */
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
        response.status === 401 ? 'The token is not valid any more, or never was.' : `The description is not there (${response.status}).`,
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
      h('a', { href: hrefOf(operations[0]!) }, title),
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
  keepToken(value)
  tokenInput.value = ''
  void load()
}

tokenForm.addEventListener('submit', (event) => {
  event.preventDefault()
  useToken(bareToken(tokenInput.value))
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
