// Native check boxes, alone or with a text.
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import styles from './check-box.module.css'
import { classes } from './classes.js'

/** A check box; without `children` give it `aria-label` or a field's control. */
interface CheckBoxProps extends Omit<ComponentProps<'input'>, 'onChange' | 'checked' | 'className' | 'style' | 'type' | 'ref'> {
  readonly isSelected: boolean
  /** Selected for some of its items. */
  readonly isPartly?: boolean
  readonly onChange: (isSelected: boolean) => void
  readonly description?: ReactNode
  readonly children?: ReactNode
}

/** A native check box with its text. */
export function CheckBox({ isSelected, isPartly = false, onChange, description, children, ...rest }: CheckBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current !== null) input.current.indeterminate = isPartly
  }, [isPartly])
  const box: ComponentProps<'input'> = {
    ...rest,
    ref: input,
    type: 'checkbox',
    className: styles.box,
    checked: isSelected,
    onChange: (event) => onChange(event.currentTarget.checked),
  }
  if (children === undefined) return <input {...box} />
  return (
    <label className={classes(styles.line, rest.disabled && styles.disabled)}>
      <input {...box} />
      <span>
        {children}
        {description !== undefined && <span className={styles.description}>{description}</span>}
      </span>
    </label>
  )
}
