// Goes to a field: opens folded entries above it, scrolls, and focuses its control.
import { parentPath } from '../../form/paths.js'
import type { DocumentStore } from '../../form/store.js'

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

/** A focusable element: this one or the first inside it. */
const controlOf = (element: HTMLElement): HTMLElement | null =>
  element.matches(focusable) ? element : element.querySelector<HTMLElement>(focusable)

/** Maximum frames to wait for a control to render, inside newly opened entries or in a link that has just come into view. */
const drawingFrames = 20

/** Goes to a field, or to the nearest thing above it that is drawn. */
function focusPath(folding: Revealing, idPrefix: string, path: string): void {
  folding.reveal(path)
  const attempt = (left: number): void => {
    const element = ofPath(idPrefix, path) ?? (left === 0 ? nearestTo(idPrefix, path) : null)
    // Buttons of a link are drawn once it is near the visible part.
    element?.scrollIntoView({ block: 'center' })
    const control = element === null ? null : controlOf(element)
    if (control !== null) control.focus({ preventScroll: true })
    else if (left > 0) requestAnimationFrame(() => attempt(left - 1))
  }
  attempt(drawingFrames)
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

/** Goes to the error after the focused field, or before it. */
export function goToError(store: DocumentStore, idPrefix: string, onGo: (path: string) => void, isBackwards: boolean): void {
  const paths = [...new Set([...store.allErrors().map(({ path }) => path), ...store.conflicts().map(({ path }) => path)])]
  if (paths.length === 0) return
  const focused = document.activeElement?.closest(`[id^="${idPrefix}"]`)?.id.slice(idPrefix.length) ?? ''
  const index = paths.indexOf(focused)
  const next = index < 0 ? (isBackwards ? paths.length - 1 : 0) : (index + (isBackwards ? paths.length - 1 : 1)) % paths.length
  onGo(paths[next]!)
}
