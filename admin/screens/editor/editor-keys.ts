// Keys of the editor, which work in fields too.
import { type RefObject, useEffect, useRef } from 'react'

/** Actions that have keys; those of the second column that are missing are left to the editor around it. */
interface EditorKeys {
  readonly onSave: () => void
  readonly onPublish: () => void
  readonly onUndo: (isRedo: boolean) => void
  readonly onError: (isBackwards: boolean) => void
  readonly onLanguage?: () => void
  /** Null: the document has no preview. */
  readonly onPreview?: (() => void) | null
}

/** Editors of texts with their own undo. */
const ownUndo = '[contenteditable="true"], .cm-editor'

const windows = '[role="dialog"], [role="alertdialog"]'

/** Scope of keys: `within`, an element of their window; `only`, the element that listens. */
export interface KeyPlace {
  readonly within?: RefObject<Element | null>
  readonly only?: RefObject<HTMLElement | null>
}

/** Handles keys while the editor is open, apart from those in windows over it. */
export function useEditorKeys(keys: EditorKeys, { within, only }: KeyPlace = {}): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const { target, key, shiftKey } = event
      if (
        event.defaultPrevented ||
        event.isComposing ||
        !(target instanceof Element) ||
        target.closest(windows) !== (within?.current?.closest(windows) ?? null)
      )
        return
      const action = actionOf(event, target.closest(ownUndo) !== null)
      if (action === null) return
      const run = latest.current[action]
      if (run === undefined && only !== undefined) return
      event.preventDefault()
      run?.(shiftKey || key.toLowerCase() === 'y')
    }
    const place = only?.current ?? document
    place.addEventListener('keydown', listen as EventListener)
    return () => place.removeEventListener('keydown', listen as EventListener)
  }, [within, only])
}

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
