// The script of the start page: sends its requests and shows the responses. Without it the page is a list of links.
import { jsonTree } from './json-tree.js'
import { readToken, storeToken, stripBearer } from './token.js'

const find = <Kind extends HTMLElement>(selector: string): Kind => document.querySelector<Kind>(selector)!

const responsePanel = find('#answer')
const form = find<HTMLFormElement>('#request')
const address = find<HTMLInputElement>('#address')
const token = document.querySelector<HTMLInputElement>('#token')
const status = find('#status')
const hint = find('#hint')
const body = find('#body')

/** Concurrent requests for the numbers of documents. */
const maxConcurrent = 4

/** The number of the last request: a slow response must not replace a later one. */
let latest = 0

async function send(path: string): Promise<void> {
  const number = ++latest
  address.value = withBrackets(path)
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

const headers = (): Record<string, string> => (hasToken() ? { authorization: `Bearer ${stripBearer(token!.value)}` } : {})

function show(path: string, response: Response, text: string, milliseconds: number): void {
  const bytes = new Blob([text]).size
  status.replaceChildren(badge(response), ` ${formatTimes(response, milliseconds)} · ${formatSize(bytes)}${formatCoding(response, bytes)}`)
  const value = parseJson(text)
  showHint(response.headers.get('octavo-hint') ?? getHint(value))
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

/** The time until the response was here, and the part of it that the service took. */
function formatTimes(response: Response, milliseconds: number): string {
  const durations = [...(response.headers.get('server-timing') ?? '').matchAll(/;dur=([\d.]{1,12})/g)].map(([, duration]) =>
    Number(duration),
  )
  const whole = `${Math.max(1, Math.round(milliseconds))} ms`
  if (durations.length === 0) return whole
  const served = durations.reduce((sum, duration) => sum + duration, 0)
  return `${whole} (service: ${served < 10 ? served.toFixed(1) : Math.round(served)} ms)`
}

function formatCoding(response: Response, bytes: number): string {
  const sent = Number(response.headers.get('content-length'))
  const coding = response.headers.get('content-encoding')
  return coding === null || sent === 0 || sent === bytes ? '' : `, sent as ${formatSize(sent)} (${coding})`
}

const formatSize = (bytes: number): string => (bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`)

function parseJson(text: string): unknown {
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

function getHint(value: unknown): string | null {
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
const withBrackets = (path: string): string => path.replaceAll('%5B', '[').replaceAll('%5D', ']')

/** The request as a line of a shell, or of a script. */
const forms: Readonly<Record<string, (url: string) => string>> = {
  curl: (url) => `curl -g ${hasToken() ? '-H "Authorization: Bearer $TOKEN" ' : ''}'${url.replaceAll("'", '%27')}'`,
  fetch: (url) =>
    `const response = await fetch(${JSON.stringify(url)}${hasToken() ? ', { headers: { authorization: `Bearer ${token}` } }' : ''})\nconst { data, meta, error } = await response.json()`,
}

const hasToken = (): boolean => token !== null && stripBearer(token.value) !== ''

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
    if (getComputedStyle(responsePanel).position === 'static') responsePanel.scrollIntoView({ behavior: 'smooth' })
  }
  const creating = target.closest<HTMLButtonElement>('.first button')
  if (creating !== null) void createByButton(creating, showNewType)
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
  token.value = readToken()
  token.addEventListener('input', () => storeToken(stripBearer(token.value)))
  // The page may come back from the history, after another one changed the token.
  addEventListener('pageshow', (event) => {
    if (event.persisted) token.value = readToken()
  })
}
/** In development the list of types follows the model: it is read again when the window gets the focus. */
async function followModel(): Promise<void> {
  const response = await fetch('/').catch(() => null)
  if (response?.ok !== true) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const types = page.querySelector('nav')?.innerHTML
  const { path } = page.body.dataset
  if (types === undefined || types === served) return
  served = types
  find('nav').replaceChildren(...page.querySelector('nav')!.childNodes)
  document.body.dataset.path = path
  if (responsePanel.hidden) address.value = path ?? '/'
  responsePanel.hidden = page.querySelector<HTMLElement>('#answer')?.hidden ?? false
  void countDocuments(document.querySelectorAll<HTMLElement>('[data-list]'))
}
/** The id of the operation that writes the first document of a type, whose list or document is at a path. */
function writingOperation(file: string, path: string): string {
  const [, , singular = ''] = file.split('/')
  const name = path.split('/').at(-1) ?? ''
  return `${singular}/${name === singular ? 'put' : 'post'}/${name}`
}

/** Shows a new type, and where to go from there. */
async function showNewType(file: string): Promise<void> {
  await followModel()
  address.value = document.body.dataset.path ?? '/'
  const next = document.createElement('p')
  next.className = 'note'
  const code = document.createElement('code')
  code.textContent = file
  next.append('Created ', code, '.')
  if (document.querySelector('.links a[href="/docs"]') !== null) {
    const link = document.createElement('a')
    link.href = `/docs#${encodeURIComponent(writingOperation(file, address.value))}`
    link.textContent = 'Write the first document'
    next.append(' ', link, ' with a token.')
  }
  find('nav').prepend(next)
  status.textContent = `Created ${file}`
}

/** The list of types as it was sent. */
let served = find('nav').innerHTML
if (document.body.dataset.follows !== undefined) addEventListener('focus', () => void followModel())

document.documentElement.classList.add('scripted')
countDocuments(document.querySelectorAll<HTMLElement>('[data-list]'))
const first = document.querySelector('a[data-request]')?.getAttribute('href')
if (first !== null && first !== undefined) send(first)
else address.value = document.body.dataset.path ?? '/'

/** Fills in the number of documents of each list; `lists` have the path of a type, and an element for its number. */
async function countDocuments(lists: Iterable<HTMLElement>): Promise<void> {
  const waiting = [...lists]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await countOne(next)
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
}

async function countOne(list: HTMLElement): Promise<void> {
  const count = list.querySelector('.count')
  const response = await fetch(`${list.dataset.list}?pagination[pageSize]=1&fields[0]=id`).catch(() => null)
  if (count === null || response === null || !response.ok) return
  const { meta } = (await response.json()) as { readonly meta?: { readonly pagination?: { readonly total?: number } } }
  const total = meta?.pagination?.total
  if (total === undefined) return
  count.textContent = `${total.toLocaleString('en')} ${list.dataset.count}`
}

/** Sends a schema. Resolves to the path of the written file; throws an error with the refusal. */
async function create(schema: string): Promise<string> {
  const response = await fetch('/_octavo/content-types', { method: 'POST', headers: { 'content-type': 'application/json' }, body: schema })
  const { data, error } = (await response.json()) as { readonly data: { readonly file: string } | null; readonly error?: Error }
  if (data === null || !response.ok) throw new Error(error?.message ?? response.statusText)
  return data.file
}

/** Creates the type of the clicked button, if it is one of these; `made` is called with the path of the file. */
async function createByButton(button: HTMLButtonElement, made: (file: string) => Promise<void>): Promise<void> {
  const schema = button.id === 'create' ? document.querySelector<HTMLTextAreaElement>('#schema')!.value : button.dataset.schema
  if (schema === undefined) return
  const buttons = document.querySelectorAll<HTMLButtonElement>('.first button')
  const problem = document.querySelector('#problem')
  for (const one of buttons) one.disabled = true
  try {
    await made(await create(schema))
  } catch (error) {
    if (problem !== null) problem.textContent = (error as Error).message.replace(/^data\.api::[\w-]+\.[\w-]+\./, '')
  }
  for (const one of buttons) one.disabled = false
}
