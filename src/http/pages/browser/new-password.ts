// The script of the page for a new password: takes the code of the letter from the address, sends the form, and says what came of it.

const find = <Kind extends HTMLElement>(selector: string): Kind => document.querySelector<Kind>(selector)!

const form = find<HTMLFormElement>('form')
const password = find<HTMLInputElement>('#password')
const repeated = find<HTMLInputElement>('#repeated')
const result = find('#result')

/** Milliseconds to wait for a response. */
const maxWaitMs = 30_000

let code: string | null = null
let isSending = false

/** Takes the code out of the address, so that neither the address bar nor the history shows it. */
function takeCode(): void {
  const given = location.hash.slice(1) || location.search.slice(1)
  // A template may append the code to the URL in any form.
  const found = new URLSearchParams(given).get('code') ?? /[0-9a-f]{64}/.exec(given)?.[0]
  if (found) code = found
  if (given !== '') history.replaceState(null, '', location.pathname)
  form.hidden = code === null
  find('#incomplete').hidden = code !== null
}

/** Says what happened. Fields that are wrong are marked, and the first gets the focus. */
function say(text: string, isBad: boolean, ...wrong: readonly HTMLInputElement[]): void {
  result.textContent = text
  result.classList.toggle('bad', isBad)
  for (const field of [password, repeated]) {
    if (wrong.includes(field)) field.setAttribute('aria-invalid', 'true')
    else field.removeAttribute('aria-invalid')
  }
  wrong[0]?.focus()
}

/** The displayed part of an error. */
interface RefusedRequest {
  readonly details?: { readonly errors?: readonly { readonly path: readonly string[]; readonly message: string }[] }
}

const expired =
  'This link has been used, has expired, or a newer letter has replaced it. If you have just set the password, sign in with it; otherwise ask for another letter.'

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** Explains a refusal. */
async function explain(response: Response): Promise<void> {
  const { status } = response
  if (status === 429) {
    const seconds = Number(response.headers.get('retry-after')) || 60
    return say(`Too many attempts. Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then try again.`, true)
  }
  if (status === 401 || status === 403) return say('The service does not let passwords be set this way. Ask the people who run it.', true)
  if (status !== 400) return say('The service cannot do this at the moment. Nothing you have typed is lost: try again in a minute.', true)
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: RefusedRequest }
  const errors = error?.details?.errors ?? []
  // Without details, the code is refused: the password is looked at after it.
  if (errors.length === 0 || errors.some(({ path }) => path[0] === 'code')) return say(expired, true)
  const messages = new Set(errors.map(({ message }) => sentence(message)))
  say([...messages].join(' '), true, password)
}

/** Sends the password. */
async function send(): Promise<void> {
  say('Setting the password …', false)
  const body = JSON.stringify({ code, password: password.value, passwordConfirmation: repeated.value })
  const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(maxWaitMs) }
  const response = await fetch(form.dataset.action!, asked).catch(() => null)
  if (response === null)
    return say('The service does not respond. Nothing you have typed is lost: check your connection, then try again.', true)
  if (!response.ok) return explain(response)
  form.reset()
  form.hidden = true
  code = null
  say('The new password is set. You can close this page and sign in with it.', false)
  result.focus()
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (isSending) return
  if (password.value !== repeated.value) return say('The two passwords are not the same.', true, repeated)
  isSending = true
  void send().finally(() => {
    isSending = false
  })
})

// The link of another letter, opened in the same tab, loads nothing.
addEventListener('hashchange', () => {
  if (location.hash === '') return
  takeCode()
  say('', false)
})
find('#unscripted').remove()
takeCode()
