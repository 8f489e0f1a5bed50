// Buttons with a text.
import type { ReactNode, Ref } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import styles from './button.module.css'
import { classes } from './classes.js'
import { Hidden } from './hidden.js'
import { useWords } from './words.js'

/** Weight of a button: one main action per screen, danger for what removes. */
type ButtonKind = 'main' | 'plain' | 'quiet' | 'danger'

/** A button with a text. */
export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'isPending'> {
  readonly kind?: ButtonKind
  readonly isSmall?: boolean
  readonly icon?: ReactNode
  /** Shows that the action is under way; presses do nothing. */
  readonly isBusy?: boolean
  readonly children: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

/** Class of a link that looks like a button. */
export const buttonClass = (kind: ButtonKind = 'plain', isSmall = false): string =>
  classes(styles.button, styles[kind], isSmall && styles.small)

/** A button with a text, and an icon where it helps to find it. */
export function Button({ kind, isSmall, icon, isBusy = false, children, ...rest }: ButtonProps) {
  const { parts } = useWords()
  return (
    <AriaButton {...rest} isPending={isBusy} className={buttonClass(kind, isSmall)}>
      {isBusy ? <span className={styles.spinner} aria-hidden="true" /> : icon}
      <span className={styles.text}>{children}</span>
      {isBusy && <Hidden>{parts.busy}</Hidden>}
    </AriaButton>
  )
}
