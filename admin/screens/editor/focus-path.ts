// Goes to a field: opens folded entries above it, scrolls, and focuses its control.
import { parentPath } from '../../form/paths.js'
import type { DocumentStore } from '../../form/store.js'
import type { DocumentForm } from './document-form.js'
import { placeOfPath } from './path-labels.js'

/** The open entries of a form. */
interface Revealing {
  reveal(path: string): void
}

/** The control of a field, or its group while it has none, such as a relation to one document that is linked. */
const ofPath = (idPrefix: string, path: string): HTMLElement | null =>
  document.getElementById(`${idPrefix}${path}`) ??
  document.querySelector<HTMLElement>(`[role="group"][aria-labelledby="${CSS.escape(`${idPrefix}${path}-label`)}"]`)

const focusable = 'input, textarea, select, button, [tabindex], [contenteditable="true"]'

/** The nearest thing above a field that is drawn. */
function nearestTo(idPrefix: string, path: string): HTMLElement | null {
  const found = ofPath(idPrefix, path)
  return found === null && path !== '' ? nearestTo(idPrefix, parentPath(path)) : found
}

/** A focusable element: this one, whose focus may go to an editor of code in its shadow, or the first inside it. */
const controlOf = (element: HTMLElement): HTMLElement | null =>
  element.shadowRoot !== null || element.matches(focusable) ? element : element.querySelector<HTMLElement>(focusable)

/** Maximum frames to wait for a control to render, inside newly opened entries or in a link that has just come into view. */
const drawingFrames = 20
/** Of a field that is there already, while its editor is being loaded. */
const loadingFrames = 300

/** Goes to a field, or to the nearest thing above it that is drawn. */
function focusPath(folding: Revealing, idPrefix: string, path: string): void {
  folding.reveal(path)
  let shown: HTMLElement | null = null
  const attempt = (frame: number): void => {
    const isLast = frame >= (document.getElementById(`${idPrefix}${path}-label`) === null ? drawingFrames : loadingFrames)
    const element = ofPath(idPrefix, path) ?? (isLast ? nearestTo(idPrefix, path) : null)
    const control = element === null ? null : controlOf(element)
    // Buttons of a link are drawn once it is near the visible part.
    if (control !== null || element !== shown) element?.scrollIntoView({ block: 'center' })
    shown = element
    if (control === null && !isLast) return void requestAnimationFrame(() => attempt(frame + 1))
    // A value that can only be read may have no control.
    if (control === null) element?.setAttribute('tabindex', '-1')
    ;(control ?? element)?.focus({ preventScroll: true })
  }
  attempt(0)
}

/** Maximum frames to wait for a window to close; generous, for busy computers. */
const closingFrames = 600

/** Goes to a field once the page below a closing window is active again, which is after the window has gone, and has the focus back. */
export function focusAfterClosing(folding: Revealing, idPrefix: string, path: string): void {
  const attempt = (left: number): void => {
    const isInactive = nearestTo(idPrefix, path)?.closest('[inert], [aria-hidden="true"]') != null
    if (isInactive && left > 0) requestAnimationFrame(() => attempt(left - 1))
    else requestAnimationFrame(() => requestAnimationFrame(() => focusPath(folding, idPrefix, path)))
  }
  attempt(closingFrames)
}

/** Undoes or redoes a change of the form, and goes to its field. */
export function undoAt(store: DocumentStore, folding: Revealing, idPrefix: string, isRedo: boolean): void {
  const [path] = (isRedo ? store.redo() : store.undo()) ?? []
  if (path !== undefined) focusPath(folding, idPrefix, path)
}

/** A form on the screen. */
export interface FormPlace {
  readonly form: DocumentForm
  /** Begins the ids of its fields. */
  readonly idPrefix: string
  /** Goes to a field. */
  readonly go: (path: string) => void
}

/** The path of the field with the focus; undefined: it is outside of the form. */
function focusedPath({ idPrefix }: FormPlace): string | undefined {
  const field = document.activeElement?.closest(`[id^="${idPrefix}"], [role="group"][aria-labelledby^="${idPrefix}"]`)
  const id = field?.id.startsWith(idPrefix) ? field.id : field?.getAttribute('aria-labelledby')
  return id?.slice(idPrefix.length).replace(/-label$/, '')
}

/** Numbers that are compared from the first on. */
type Place = readonly number[]

function comparePlaces(one: Place, other: Place): number {
  const at = one.findIndex((number, index) => number !== other[index])
  return at === -1 ? one.length - other.length : one[at]! - (other[at] ?? -1)
}

/** Goes to the next error or conflict on the screen after the focused field, or before it, through all forms and around. */
export function goToError(forms: readonly FormPlace[], isBackwards: boolean): void {
  const placeOf = ({ form: { type, store } }: FormPlace, index: number, path: string): Place | null => {
    const place = placeOfPath(type, store, path)
    return place === null ? null : [index, ...place]
  }
  const stops = forms.flatMap((one, index) => {
    const { store } = one.form
    return [...store.allErrors(), ...store.conflicts()].flatMap(({ path }) => {
      const place = placeOf(one, index, path)
      return place === null ? [] : [{ place, go: () => one.go(path) }]
    })
  })
  stops.sort((one, other) => (isBackwards ? -1 : 1) * comparePlaces(one.place, other.place))
  const [focused] = forms.flatMap((one, index) => {
    const path = focusedPath(one)
    const place = path === undefined ? null : placeOf(one, index, path)
    return place === null ? [] : [place]
  })
  const isPast = ({ place }: { readonly place: Place }) =>
    focused !== undefined && (isBackwards ? -1 : 1) * comparePlaces(place, focused) > 0
  ;(stops.find(isPast) ?? stops[0])?.go()
}
