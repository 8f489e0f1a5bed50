// One line of text.
import type { ComponentProps, ReactNode } from 'react'
import { classes } from './classes.js'
import styles from './text-input.module.css'

/** One line of text; spread a field's control on it. */
export interface TextInputProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'className' | 'style' | 'size' | 'prefix'> {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Before the text: an icon or a fixed beginning. */
  readonly start?: ReactNode
  /** After the text: a unit or a small button. */
  readonly end?: ReactNode
  readonly isSmall?: boolean
  /** Letters of one width, for names, addresses and code. */
  readonly isCode?: boolean
}

/** A native input of one line. */
export function TextInput({ value, onChange, start, end, isSmall, isCode, ...rest }: TextInputProps) {
  return (
    <span className={classes(styles.frame, isSmall && styles.small, (rest.disabled || rest.readOnly) && styles.still)}>
      {start !== undefined && <span className={styles.start}>{start}</span>}
      <input
        type="text"
        {...rest}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        className={classes(styles.input, isCode && styles.code)}
      />
      {end !== undefined && <span className={styles.end}>{end}</span>}
    </span>
  )
}
