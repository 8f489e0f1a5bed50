// Keys of the editor, which work in fields too.
import { type KeyboardEvent as ReactKeyboardEvent, type RefObject, useEffect, useRef } from 'react'

/** Actions that have keys; null: nothing to do at present. */
interface EditorKeys {
  readonly onSave: () => void
  readonly onPublish: () => void
  readonly onUndo: (isRedo: boolean) => void
  readonly onError: (isBackwards: boolean) => void
  readonly onLanguage: (() => void) | null
  readonly onPreview: (() => void) | null
}

/** Editors of texts with their own undo. */
const ownUndo = '[contenteditable="true"], .cm-editor'

/** Without lists of choices and menus, which belong to the form of their trigger. */
const windows = '[role="dialog"]:not([data-trigger]), [role="alertdialog"]'

/** Runs the action of a key in a window, or in none. */
function runKey(event: KeyboardEvent, keys: Partial<EditorKeys>, own: Element | null): void {
  const { target, key, shiftKey } = event
  if (event.defaultPrevented || event.isComposing || !(target instanceof Element)) return
  // Popups are outside of the window that they belong to.
  const window = target.closest(windows)
  if (window !== null && window !== own) return
  const action = actionOf(event, target.closest(ownUndo) !== null)
  if (action === null || keys[action] === undefined) return
  event.preventDefault()
  keys[action]?.(shiftKey || key.toLowerCase() === 'y')
}

/** Handles keys while the editor is open. */
export function useEditorKeys(keys: EditorKeys): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => runKey(event, latest.current, null)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/**
 * A handler for the keys of one of several forms; those that are missing are left to the editor around it. React also gives it the keys
 * of its popups, which are elsewhere in the page.
 */
export const keysInside =
  (keys: Partial<EditorKeys>, own?: RefObject<Element | null>) =>
  ({ nativeEvent }: ReactKeyboardEvent): void =>
    runKey(nativeEvent, keys, own?.current?.closest(windows) ?? null)

function actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, hasOwnUndo: boolean): keyof EditorKeys | null {
  if (key === 'F8') return 'onError'
  if (!(ctrlKey || metaKey) || altKey) return null
  const letter = key.toLowerCase()
  if (letter === 's' && !shiftKey) return 'onSave'
  if (letter === 'enter') return 'onPublish'
  if (letter === 'l' && shiftKey) return 'onLanguage'
  if (letter === 'p' && shiftKey) return 'onPreview'
  return (letter === 'z' || letter === 'y') && !hasOwnUndo ? 'onUndo' : null
}
