// Several lines of text, as high as the text.
import type { ComponentProps } from 'react'
import { classes } from './classes.js'
import styles from './text-area.module.css'

/** Several lines of text; spread a field's control on it. */
interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'className' | 'style'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isCode?: boolean
}

/** A native text area that grows with its text. */
export function TextArea({ value, onChange, isCode, rows = 3, ...rest }: TextAreaProps) {
  return (
    <textarea
      {...rest}
      rows={rows}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      className={classes(styles.area, isCode && styles.code)}
    />
  )
}
