// The script of the start page: sends its requests and shows the responses beside them. Without it the page is a list of links.
import { countDocuments } from './counts.js'
import { jsonTree } from './json-tree.js'
import { bareToken, keepToken, keptToken } from './token.js'

const find = <Kind extends HTMLElement>(selector: string): Kind => document.querySelector<Kind>(selector)!

const answer = find('#answer')
const form = find<HTMLFormElement>('#request')
const address = find<HTMLInputElement>('#address')
const token = document.querySelector<HTMLInputElement>('#token')
const status = find('#status')
const hint = find('#hint')
const body = find('#body')

/** The number of the last request: a slow response must not replace a later one. */
let latest = 0

/** Sends a GET and shows its response. */
async function send(path: string): Promise<void> {
  const number = ++latest
  address.value = readable(path)
  for (const link of document.querySelectorAll('a[data-request]')) {
    const isSent = link.getAttribute('href') === path
    if (isSent) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
  status.textContent = 'Waiting for the response …'
  const started = performance.now()
  try {
    const response = await fetch(path, { headers: headers() })
    const text = await response.text()
    if (number === latest) show(path, response, text, performance.now() - started)
  } catch {
    if (number === latest) fail('The service does not respond. Is it running?')
  }
}

const headers = (): Record<string, string> => (hasToken() ? { authorization: `Bearer ${bareToken(token!.value)}` } : {})

function show(path: string, response: Response, text: string, milliseconds: number): void {
  const bytes = new Blob([text]).size
  status.replaceChildren(badge(response), ` ${Math.max(1, Math.round(milliseconds))} ms · ${sizeOf(bytes)}${sentAs(response, bytes)}`)
  const value = parsed(text)
  showHint(response.headers.get('octavo-hint') ?? hintOf(value))
  body.replaceChildren(value === undefined ? plainText(text) : jsonTree(value, (documentId) => pathOfDocument(path, documentId)))
}

function fail(message: string): void {
  status.textContent = message
  showHint(null)
  body.replaceChildren()
}

function badge({ status: code, statusText }: Response): HTMLElement {
  const element = document.createElement('b')
  element.className = code < 300 ? 'good' : 'bad'
  element.textContent = `${code} ${statusText}`.trim()
  return element
}

/** How many bytes were sent, where they were compressed. */
function sentAs(response: Response, bytes: number): string {
  const sent = Number(response.headers.get('content-length'))
  const coding = response.headers.get('content-encoding')
  return coding === null || sent === 0 || sent === bytes ? '' : `, sent as ${sizeOf(sent)} (${coding})`
}

const sizeOf = (bytes: number): string => (bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function plainText(text: string): HTMLElement {
  const element = document.createElement('pre')
  element.textContent = text === '' ? '(no body)' : text
  return element
}

function hintOf(value: unknown): string | null {
  const { error } = (value ?? {}) as { readonly error?: { readonly details?: { readonly hint?: string } } | null }
  return error?.details?.hint ?? null
}

function showHint(text: string | null): void {
  hint.hidden = text === null
  // Several hints are separated by a bar.
  hint.textContent = (text ?? '').replaceAll(' | ', '\n')
}

/** The path of one document of a list; null for other responses. */
function pathOfDocument(path: string, documentId: string): string | null {
  const [list = ''] = path.split('?')
  const isList = document.querySelector(`[data-list="${CSS.escape(list)}"]`) !== null
  return isList ? `${list}/${documentId}?populate=*` : null
}

/** A path with its brackets as they are, which is how people write it. */
const readable = (path: string): string => path.replaceAll('%5B', '[').replaceAll('%5D', ']')

/** The request as a line of a shell, or of a script. */
const forms: Readonly<Record<string, (url: string) => string>> = {
  curl: (url) => `curl -g ${hasToken() ? '-H "Authorization: Bearer $TOKEN" ' : ''}'${url.replaceAll("'", '%27')}'`,
  fetch: (url) =>
    `const response = await fetch(${JSON.stringify(url)}${hasToken() ? ', { headers: { authorization: `Bearer ${token}` } }' : ''})\nconst { data, meta, error } = await response.json()`,
}

const hasToken = (): boolean => token !== null && bareToken(token.value) !== ''

/** Copies text; without permission to, or on a page without HTTPS, by selecting it. */
async function copy(text: string, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
  const label = button.textContent
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = label
  }, 1_200)
}

document.addEventListener('click', (event) => {
  const target = event.target as HTMLElement
  const link = target.closest<HTMLAnchorElement>('a[data-request]')
  if (link !== null && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault()
    send(link.getAttribute('href')!)
    if (getComputedStyle(answer).position === 'static') answer.scrollIntoView({ behavior: 'smooth' })
  }
  const button = target.closest<HTMLButtonElement>('button[data-copy]')
  const { copy: what = '' } = button?.dataset ?? {}
  if (button !== null)
    copy(forms[what]?.(new URL(address.value, location.href).href.replaceAll('%5B', '[').replaceAll('%5D', ']')) ?? what, button)
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const url = new URL(address.value, location.href)
  if (url.origin === location.origin) send(url.pathname + url.search)
  else fail('This page sends requests to its own service only.')
})

if (token !== null) {
  token.value = keptToken()
  token.addEventListener('input', () => keepToken(bareToken(token.value)))
  // The page may come back from the history, after another one changed the token.
  addEventListener('pageshow', (event) => {
    if (event.persisted) token.value = keptToken()
  })
}
document.documentElement.classList.add('scripted')
countDocuments(document.querySelectorAll<HTMLElement>('[data-list]'))
const first = document.querySelector('a[data-request]')?.getAttribute('href')
if (first !== null && first !== undefined) send(first)
else address.value = document.body.dataset.path ?? '/'
