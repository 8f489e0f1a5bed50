// Keys of the editor, which work in fields too.
import { type RefObject, useEffect, useRef } from 'react'

/** Actions that have keys. */
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

/** Handles keys while the editor is open, apart from those in windows over it; `within`: an element of the window that has these keys. */
export function useEditorKeys(keys: EditorKeys, within?: RefObject<Element | null>): void {
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
      event.preventDefault()
      if (action === 'save') latest.current.onSave()
      else if (action === 'publish') latest.current.onPublish()
      else if (action === 'language') latest.current.onLanguage?.()
      else if (action === 'preview') latest.current.onPreview?.()
      else if (action === 'error') latest.current.onError(shiftKey)
      else latest.current.onUndo(shiftKey || key.toLowerCase() === 'y')
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [within])
}

type Action = 'save' | 'publish' | 'undo' | 'error' | 'language' | 'preview'

function actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, hasOwnUndo: boolean): Action | null {
  if (key === 'F8') return 'error'
  if (!(ctrlKey || metaKey) || altKey) return null
  const letter = key.toLowerCase()
  if (letter === 's' && !shiftKey) return 'save'
  if (letter === 'enter') return 'publish'
  if (letter === 'l' && shiftKey) return 'language'
  if (letter === 'p' && shiftKey) return 'preview'
  return (letter === 'z' || letter === 'y') && !hasOwnUndo ? 'undo' : null
}
