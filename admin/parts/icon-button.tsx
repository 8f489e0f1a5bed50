// Buttons that show an icon alone, with their name as a tooltip.
import type { ReactNode, Ref } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import { classes } from './classes.js'
import styles from './icon-button.module.css'
import { Tooltip } from './tooltip.js'

/** A button that shows an icon. */
interface IconButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'aria-label'> {
  /** Name of the action, for the tooltip and for screen readers. */
  readonly label: string
  /** Keys that do the same, shown in the tooltip. */
  readonly keys?: string
  readonly kind?: 'plain' | 'quiet' | 'danger'
  readonly isSmall?: boolean
  /** For buttons that switch something: whether it is on. */
  readonly isOn?: boolean
  readonly children: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button that shows an icon, with its name as a tooltip. */
export function IconButton({ label, keys, kind = 'quiet', isSmall, isOn, children, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keys}>
      <AriaButton
        {...rest}
        aria-label={label}
        aria-pressed={isOn}
        className={classes(styles.button, styles[kind], isSmall && styles.small, isOn && styles.on)}
      >
        {children}
      </AriaButton>
    </Tooltip>
  )
}
