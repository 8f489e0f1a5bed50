// The script of the page for a new password: takes the code of the link from the URL, sends the form, and shows the result.

const find = <Kind extends HTMLElement>(selector: string): Kind => document.querySelector<Kind>(selector)!

const form = find<HTMLFormElement>('form')
const password = find<HTMLInputElement>('#password')
const repeated = find<HTMLInputElement>('#repeated')
const result = find('#result')

const maxWaitMs = 30_000

let code: string | null = null
let isSending = false

/** Removes the code from the URL, so that neither the address bar nor the history shows it. */
function takeCode(): void {
  const given = location.hash.slice(1) || location.search.slice(1)
  // A template may append the code to the URL in any form.
  const found = new URLSearchParams(given).get('code') ?? /[0-9a-f]{64}/.exec(given)?.[0]
  if (found) code = found
  if (given !== '') history.replaceState(null, '', location.pathname)
  form.hidden = code === null
  find('#incomplete').hidden = code !== null
}

/** Shows a message. Invalid fields are marked, and the first gets the focus. */
function showMessage(text: string, isBad: boolean, ...wrong: readonly HTMLInputElement[]): void {
  result.textContent = text
  result.classList.toggle('bad', isBad)
  for (const field of [password, repeated]) {
    if (wrong.includes(field)) field.setAttribute('aria-invalid', 'true')
    else field.removeAttribute('aria-invalid')
  }
  wrong[0]?.focus()
}

/** The displayed part of an error. */
interface RefusalDetails {
  readonly details?: { readonly errors?: readonly { readonly path: readonly string[]; readonly message: string }[] }
}

const expired =
  'This link has been used, has expired, or a newer e-mail has replaced it. If you have just set the password, sign in with it; otherwise request another e-mail.'

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

async function explain(response: Response): Promise<void> {
  const { status } = response
  if (status === 429) {
    const seconds = Number(response.headers.get('retry-after')) || 60
    return showMessage(`Too many attempts. Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then try again.`, true)
  }
  if (status === 401 || status === 403)
    return showMessage('The service does not let passwords be set this way. Ask the people who run it.', true)
  if (status !== 400)
    return showMessage('The service cannot do this at the moment. Nothing you have typed is lost: try again in a minute.', true)
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: RefusalDetails }
  const errors = error?.details?.errors ?? []
  // Without details, the code is refused: it is checked before the password.
  if (errors.length === 0 || errors.some(({ path }) => path[0] === 'code')) return showMessage(expired, true)
  const messages = new Set(errors.map(({ message }) => sentence(message)))
  showMessage([...messages].join(' '), true, password)
}

async function send(): Promise<void> {
  showMessage('Setting the password …', false)
  const body = JSON.stringify({ code, password: password.value, passwordConfirmation: repeated.value })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(maxWaitMs) }
  const response = await fetch(form.dataset.action!, init).catch(() => null)
  if (response === null)
    return showMessage('The service does not respond. Nothing you have typed is lost: check your connection, then try again.', true)
  if (!response.ok) return explain(response)
  form.reset()
  form.hidden = true
  code = null
  showMessage('The new password is set. You can close this page and sign in with it.', false)
  result.focus()
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (isSending) return
  if (password.value !== repeated.value) return showMessage('The two passwords are not the same.', true, repeated)
  isSending = true
  void send().finally(() => {
    isSending = false
  })
})

// Opening the link of another e-mail in the same tab does not load the page.
addEventListener('hashchange', () => {
  if (location.hash === '') return
  takeCode()
  showMessage('', false)
})
find('#unscripted').remove()
takeCode()
