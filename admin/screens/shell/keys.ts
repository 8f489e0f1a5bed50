// Keys of the whole page, and the regions that F6 goes through: elements with `data-region`.
import { useEffect } from 'react'
import { preference } from './preferences.js'

/** Keys by name: `mod+k`, `?`. `mod` is Ctrl, or Cmd on Apple's computers. */
type KeyTable = Readonly<Record<string, () => void>>

/** True where a letter is text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The name of a key press. */
function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  const name = key.length === 1 ? key.toLowerCase() : key
  const isLetter = /^[a-z]$/.test(name) || key.length > 1
  return [ctrlKey || metaKey ? 'mod' : '', altKey ? 'alt' : '', shiftKey && isLetter ? 'shift' : '', name].filter(Boolean).join('+')
}

/** Runs functions by keys, anywhere on the page; single characters only outside of fields and dialogs, and unless they are switched off. */
export function useKeys(table: KeyTable): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return
      const name = keyName(event)
      const run = table[name]
      if (run === undefined) return
      // In a shadow root, the event of the document has its host as the target.
      const [target = null] = event.composedPath()
      if (name.length === 1 && (isTyping(target) || isInDialog() || preference('letterKeys') === 'off')) return
      event.preventDefault()
      run()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [table])
}

const isInDialog = (): boolean => document.querySelector('dialog[open], [role="dialog"], [role="alertdialog"]') !== null

/** Moves the focus to the next region, or to the previous one; a region inside another one comes after it. */
export function focusRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((region) => region.checkVisibility())
  const at = regions.findLastIndex((region) => region.contains(document.activeElement))
  const next = regions[(at + step + regions.length) % regions.length] ?? regions[0]
  if (next === undefined) return
  if (!next.hasAttribute('tabindex')) next.tabIndex = -1
  next.focus()
}
