// One operation: its description and inputs, the request as a command, and the response.
import type { ApiDescription, ShownOperation } from './description.js'
import { fill, h, prose } from './elements.js'
import { createExample } from './example.js'
import { membersView, queryInputs, queryString, typeText } from './inputs.js'
import { asCurl, asFetch, encode, type Request } from './request.js'

interface PageContext {
  readonly prefix: string
  token(): string
  useToken(token: string): void
}

/** The view of an operation. `send` sends its request. */
export function operationView(
  description: ApiDescription,
  operation: ShownOperation,
  around: PageContext,
): { readonly element: HTMLElement; send(): void } {
  const send = (): void => {
    const missing = form.missing()
    if (missing === null) void console.send(form.request())
    else missing.focus()
  }
  const button = h('button', { type: 'button', class: `send ${operation.method}`, click: send }, `Send ${operation.method}`)
  const console = createConsole(around, button)
  const form = createForm(description, operation, around, () => console.show(form.request()))
  const element = h(
    'article',
    {},
    h('h2', { tabindex: -1 }, operation.summary),
    h('p', { class: 'path' }, methodMark(operation.method), ' ', h('code', {}, getBasePath(operation, around) + operation.path)),
    operation.description !== '' && h('p', {}, prose(operation.description)),
    h('p', { class: 'soft' }, operation.isOpen ? 'Needs no token.' : 'Needs a token.'),
    h('div', { class: 'columns' }, form.element, console.element),
    responsesView(description, operation),
  )
  console.show(form.request())
  return { element, send }
}

const getBasePath = ({ isAtRoot }: ShownOperation, { prefix }: PageContext): string => (isAtRoot ? '' : prefix)

export const methodMark = (method: string): HTMLElement => h('span', { class: `method ${method}` }, method)

function createForm(description: ApiDescription, operation: ShownOperation, around: PageContext, changed: () => void) {
  const prefix = getBasePath(operation, around)
  const paths = operation.parameters
    .filter((one) => one.in === 'path')
    .map((parameter) => ({
      name: parameter.name,
      says: parameter.description,
      control: h('input', { type: 'text', required: true, input: changed }),
    }))
  const inputs = queryInputs(description, operation, changed)
  const more = h('input', { type: 'text', placeholder: 'populate[author][fields][0]=name', input: changed })
  const body = createBodyInput(description, operation, changed)
  const hasQuery = operation.parameters.some((one) => one.in === 'query')
  const element = h(
    'form',
    { submit: (event: Event) => event.preventDefault() },
    paths.map(({ name, says, control }) =>
      h(
        'div',
        { class: 'field' },
        h('label', {}, h('span', { class: 'name' }, `${name} *`), control),
        h('p', { class: 'soft' }, says ?? ''),
      ),
    ),
    body?.element,
    inputs.map((input) => input.element),
    hasQuery && h('div', { class: 'field' }, h('label', {}, h('span', { class: 'name' }, 'Further parameters'), more)),
  )
  return {
    element,
    /** The first input that must not be empty and is. */
    missing: () => paths.find(({ control }) => control.value === '')?.control ?? null,
    request(): Request {
      const path = paths.reduce(
        (whole, { name, control }) => whole.replace(`{${name}}`, control.value === '' ? `{${name}}` : encodeURIComponent(control.value)),
        operation.path,
      )
      const query = [
        queryString(inputs),
        more.value
          .trim()
          .replace(/^[?&]/, '')
          .split('&')
          .filter((one) => one !== '')
          .map(createPair)
          .join('&'),
      ]
      const search = query.filter((one) => one !== '').join('&')
      const given = body?.value() ?? null
      const headers = typeof given === 'string' ? { 'content-type': 'application/json' } : ({} as Record<string, string>)
      return { method: operation.method, path: `${prefix}${path}${search === '' ? '' : `?${search}`}`, headers, body: given }
    },
  }
}

/** A pair that was written by hand, encoded once. */
function createPair(pair: string): string {
  const plain = (text: string): string => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  }
  const [name = '', ...value] = pair.split('=')
  return value.length === 0 ? encode(plain(name)) : `${encode(plain(name))}=${encode(plain(value.join('=')))}`
}

/** The input of the body: JSON to edit, or files to choose. */
function createBodyInput(description: ApiDescription, { body }: ShownOperation, changed: () => void) {
  const [json, form] = [body['application/json'], body['multipart/form-data']]
  if (form !== undefined) {
    const files = h('input', { type: 'file', multiple: true, input: changed })
    return {
      element: h('div', { class: 'field' }, h('label', {}, h('span', { class: 'name' }, 'files'), files)),
      value: () => {
        const data = new FormData()
        for (const file of files.files ?? []) data.append('files', file)
        return data
      },
    }
  }
  if (json === undefined) return null
  const text = JSON.stringify(createExample(description, json), null, 2)
  const area = h('textarea', { rows: Math.min(18, text.split('\n').length + 1), spellcheck: 'false', input: () => check() }, text)
  const problem = h('p', { class: 'problem', role: 'status' })
  const check = (): void => {
    try {
      JSON.parse(area.value)
      fill(problem)
    } catch (error) {
      fill(problem, (error as Error).message)
    }
    changed()
  }
  const members = membersView(description, json)
  const described = members === null ? null : h('details', {}, h('summary', {}, 'Body fields'), members)
  return {
    element: h('div', { class: 'field' }, h('label', {}, h('span', { class: 'name' }, 'Body (JSON)'), area), problem, described),
    value: () => area.value,
  }
}

function responsesView(description: ApiDescription, { responses }: ShownOperation): HTMLElement {
  const one = ({ status, description: says, schema }: ShownOperation['responses'][number], index: number): HTMLElement => {
    const members = schema === null ? null : membersView(description, schema)
    const head = [
      h('code', {}, status),
      ' ',
      prose(says),
      ' ',
      schema !== null && members === null && h('span', { class: 'type' }, typeText(schema)),
    ]
    return members === null ? h('p', {}, head) : h('details', { open: index === 0 }, h('summary', {}, head), members)
  }
  return h('section', { class: 'responses' }, h('h3', {}, 'Responses'), responses.map(one))
}

/** The request as a command or program, and the response. */
function createConsole({ token, useToken }: PageContext, send: HTMLElement) {
  const code = h('pre', { class: 'code', tabindex: 0 })
  const result = h('div', { 'aria-live': 'polite' }, h('p', { class: 'soft' }, 'Send the request to see the response here.'))
  const forms = { curl: asCurl, fetch: asFetch } as const
  let [form, current]: [keyof typeof forms, Request | null] = ['curl', null]
  const tabs = Object.keys(forms).map((name) =>
    h('button', { type: 'button', 'aria-pressed': String(name === form), click: () => choose(name as keyof typeof forms) }, name),
  )
  const print = (): void => {
    if (current !== null) fill(code, forms[form](location.origin, current, token() !== ''))
  }
  const choose = (name: keyof typeof forms): void => {
    form = name
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.textContent === name))
    print()
  }
  const copy = h('button', { type: 'button', click: () => copyText(code, copy) }, 'Copy')
  const heading = h('h3', {}, 'Response')
  const element = h(
    'aside',
    { class: 'console' },
    h('div', { class: 'tabs' }, h('div', { class: 'bar' }, send), tabs, copy),
    code,
    heading,
    result,
  )
  let turn = 0
  return {
    element,
    show(request: Request): void {
      current = request
      print()
    },
    async send(request: Request): Promise<void> {
      const mine = ++turn
      fill(result, h('p', { class: 'soft' }, 'Sending …'))
      // In one column, the response is below the form and would not be visible.
      if (getComputedStyle(element).position === 'static') heading.scrollIntoView({ behavior: 'smooth' })
      const view = await createResponseView(request, token(), useToken)
      if (mine === turn) fill(result, view)
    },
  }
}

/** Copies the text of an element; where the browser does not allow it, selects it. */
async function copyText(element: HTMLElement, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(element.textContent)
    fill(button, 'Copied')
    setTimeout(() => fill(button, 'Copy'), 1_500)
  } catch {
    getSelection()?.selectAllChildren(element)
  }
}

async function createResponseView(
  { method, path, headers, body }: Request,
  token: string,
  useToken: (token: string) => void,
): Promise<HTMLElement> {
  const started = performance.now()
  try {
    const response = await fetch(path, {
      method,
      body,
      credentials: 'omit',
      redirect: 'manual',
      headers: { ...headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const text = isStream ? '' : await response.text()
    const time = Math.round(performance.now() - started)
    const status = response.type === 'opaqueredirect' ? 'Redirect' : `${response.status} ${response.statusText}`
    const line = h(
      'p',
      {},
      h('strong', { class: response.ok ? 'good' : 'bad' }, status),
      ` · ${time} ms${isStream ? '' : ` · ${new Blob([text]).size.toLocaleString('en')} bytes`}`,
    )
    if (isStream) return h('div', {}, line, streamView(response))
    return h('div', {}, line, text === '' ? h('p', { class: 'soft' }, 'No body.') : bodyView(text), signInButton(text, useToken))
  } catch (error) {
    return h('p', { class: 'bad' }, `The request failed: ${(error as Error).message}`)
  }
}

function bodyView(text: string): HTMLElement {
  try {
    return textView(JSON.stringify(JSON.parse(text), null, 2), true)
  } catch {
    return textView(text, false)
  }
}

/** After signing in, the token of the response can be used for the next requests. */
function signInButton(text: string, useToken: (token: string) => void): HTMLElement | null {
  const found = /^\{"jwt":"([\w.-]+)"/.exec(text)?.[1]
  return found === undefined ? null : h('button', { type: 'button', click: () => useToken(found) }, 'Use this token')
}

/** Characters that are shown; older ones go. */
const most = 50_000

/** Shows a stream. It is closed when something else replaces it on the page, or on a click. */
function streamView(response: Response): HTMLElement {
  const text = h('pre', { class: 'code', tabindex: 0 })
  const stop = h('button', { type: 'button', click: () => end() }, 'Close the stream')
  const element = h('div', {}, stop, text)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let isOver = false
  function end(): void {
    isOver = true
    stop.hidden = true
    clearInterval(look)
    reader.cancel().catch(() => undefined)
  }
  let wasShown = false
  const look = setInterval(() => {
    if (wasShown && !element.isConnected) end()
    wasShown ||= element.isConnected
  }, 500)
  async function show(): Promise<void> {
    while (!isOver) {
      const { done, value } = await reader.read()
      if (done) return
      text.textContent = (text.textContent + value).slice(-most)
    }
  }
  show()
    .catch(() => undefined)
    .finally(end)
  return element
}

/** Longer texts are cut, because browsers would not scroll smoothly. */
const maxCharacters = 200_000

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g

/** A text as a block; JSON is coloured. */
function textView(text: string, isJson: boolean): HTMLElement {
  const shown = text.slice(0, maxCharacters)
  const rest = text.length - shown.length
  const note = rest === 0 ? null : h('p', { class: 'soft' }, `${rest.toLocaleString('en')} more characters are not shown.`)
  return h('div', {}, h('pre', { class: 'code', tabindex: 0 }, isJson ? highlight(shown) : shown), note)
}

function highlight(text: string): Node[] {
  const parts: Node[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    if (match.index > end) parts.push(document.createTextNode(text.slice(end, match.index)))
    const [whole, string, colon = '', word] = match
    const kind = string === undefined ? (word === undefined ? 'number' : 'word') : colon === '' ? 'string' : 'key'
    parts.push(h('span', { class: `json-${kind}` }, string ?? whole), document.createTextNode(colon))
    end = match.index + whole.length
  }
  parts.push(document.createTextNode(text.slice(end)))
  return parts
}
