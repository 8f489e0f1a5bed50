// A short text next to a control with the pointer or the focus.
import type { ReactElement } from 'react'
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components/Tooltip'
import styles from './tooltip.module.css'

/** Milliseconds of rest before a tooltip opens. */
const delay = 500

/** A text for a control; `children` is a button of `parts/`. */
interface TooltipProps {
  readonly text: string
  readonly keys?: string
  readonly children: ReactElement
}

/** Shows a short text next to a control with the pointer or the focus. */
export function Tooltip({ text, keys, children }: TooltipProps) {
  return (
    <TooltipTrigger delay={delay} closeDelay={0}>
      {children}
      <AriaTooltip className={styles.tooltip} offset={6}>
        {text}
        {keys !== undefined && <kbd className={styles.keys}>{keys}</kbd>}
      </AriaTooltip>
    </TooltipTrigger>
  )
}
