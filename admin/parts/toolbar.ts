// A toolbar is one stop of the Tab key; arrows, Home and End move the focus inside.
import { type KeyboardEvent, useState } from 'react'

/** Moves the focus among the buttons of a toolbar, and returns the position of the new one. */
function moveFocus(event: KeyboardEvent<HTMLElement>): number | null {
  const bar = event.currentTarget
  const buttons = [...bar.querySelectorAll<HTMLElement>('button:not([disabled])')]
  const at = buttons.indexOf(document.activeElement as HTMLElement)
  const isReversed = getComputedStyle(bar).direction === 'rtl'
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  const to = event.key === 'Home' ? 0 : event.key === 'End' ? buttons.length - 1 : step === 0 ? -1 : at + (isReversed ? -step : step)
  if (at < 0 || to < 0 || to >= buttons.length || to === at) return null
  event.preventDefault()
  buttons[to]!.focus()
  return [...bar.querySelectorAll('button')].indexOf(buttons[to] as HTMLButtonElement)
}

/** Attributes of a toolbar and of its buttons by position; those before the first have stops of their own. */
export function useToolbar(first: number) {
  const [stop, setStop] = useState(first)
  return {
    bar: {
      tabIndex: -1,
      onKeyDownCapture: (event: KeyboardEvent<HTMLElement>) => {
        const to = moveFocus(event)
        if (to !== null) setStop(to)
      },
    },
    buttonAt: (index: number) => ({ excludeFromTabOrder: index !== Math.max(stop, first) }),
  }
}
