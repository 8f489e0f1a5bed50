// A setting that is on or off.
import type { ComponentProps, ReactNode } from 'react'
import styles from './switch.module.css'

/** A switch; spread a field's control on it, or give it a text. */
interface SwitchProps extends Omit<ComponentProps<'input'>, 'onChange' | 'checked' | 'className' | 'style' | 'type' | 'role'> {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly children?: ReactNode
}

/** A native check box with the role of a switch. */
export function Switch({ isOn, onChange, children, ...rest }: SwitchProps) {
  const { 'aria-required': _, ...known } = rest
  const input: ComponentProps<'input'> = {
    ...known,
    type: 'checkbox',
    role: 'switch',
    className: styles.switch,
    checked: isOn,
    onChange: (event) => onChange(event.currentTarget.checked),
  }
  if (children === undefined) return <input {...input} />
  return (
    <label className={styles.line}>
      <input {...input} />
      <span>{children}</span>
    </label>
  )
}
