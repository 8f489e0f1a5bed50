// A toolbar is one stop of the Tab key; arrows, Home and End move the focus inside.
import { type FocusEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'

const buttonsOf = (bar: HTMLElement): readonly HTMLButtonElement[] => [...bar.querySelectorAll('button')]

/** Moves the focus among the buttons of a toolbar. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
  const bar = event.currentTarget
  const buttons = buttonsOf(bar).filter(({ disabled }) => !disabled)
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  const forwards = getComputedStyle(bar).direction === 'rtl' ? -1 : 1
  const to = { Home: 0, End: buttons.length - 1, ArrowRight: at + forwards, ArrowLeft: at - forwards }[event.key]
  if (at < 0 || to === undefined) return
  // Menus would choose their next entry, also at the ends of the toolbar.
  event.preventDefault()
  event.stopPropagation()
  buttons[to]?.focus()
}

/** Attributes of a toolbar and of its buttons by position; those before the first have stops of their own. */
export function useToolbar(first: number) {
  const ref = useRef<HTMLDivElement>(null)
  // A position after those before the first.
  const [stop, setStop] = useState(0)
  // The stop may be disabled or gone.
  useLayoutEffect(() => {
    const buttons = ref.current === null ? [] : buttonsOf(ref.current).slice(first)
    if (buttons[stop]?.disabled !== false)
      setStop(
        Math.max(
          0,
          buttons.findIndex(({ disabled }) => !disabled),
        ),
      )
  })
  return {
    bar: {
      ref,
      tabIndex: -1,
      onKeyDownCapture: moveFocus,
      onFocus: ({ currentTarget, target }: FocusEvent<HTMLElement>) => {
        const at = buttonsOf(currentTarget).indexOf(target as HTMLButtonElement) - first
        if (at >= 0) setStop(at)
      },
    },
    buttonAt: (index: number) => ({ excludeFromTabOrder: index - first !== stop }),
  }
}
