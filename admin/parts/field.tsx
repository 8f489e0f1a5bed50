// The frame of every field: label, description, count and error, bound to the control inside.

import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { classes } from './classes.js'
import styles from './field.module.css'
import { Hidden } from './hidden.js'
import hidden from './hidden.module.css'
import { useWords } from './words.js'

/** Attributes that bind a control to its field; spread them on an input or a part. */
export interface FieldControl {
  readonly id: string
  readonly 'aria-labelledby': string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
  readonly 'aria-required': true | undefined
  readonly lang: string | undefined
  readonly dir: 'auto' | undefined
}

/** Frame of one field. */
export interface FieldProps {
  readonly label: ReactNode
  /** Under the control, in quiet letters. */
  readonly description?: ReactNode
  /** Characters of the value and the most that are allowed. */
  readonly count?: { readonly used: number; readonly limit: number }
  /** Errors under the control; the control is marked as wrong. */
  readonly error?: ReactNode
  /** A remark that is no error, such as a value that is needed for the publication only. */
  readonly hint?: ReactNode
  readonly required?: boolean
  /** Language of the content, for spelling and screen readers; its direction follows the text. */
  readonly lang?: string
  /** At the end of the line of the label: language, people, actions. */
  readonly aside?: ReactNode
  /** For several controls under one label: the frame is a group with that name. */
  readonly isGroup?: boolean
  /** The label is for screen readers alone. */
  readonly isLabelHidden?: boolean
  readonly id?: string
  /** Called when the focus has left the field. */
  readonly onLeave?: () => void
  readonly children: (control: FieldControl) => ReactNode
}

/** A label, a control and everything about its value. */
export function Field(props: FieldProps) {
  const { parts } = useWords()
  const made = useId()
  const id = props.id ?? made
  const label = `${id}-label`
  const notes = [
    props.error && `${id}-error`,
    props.hint && `${id}-hint`,
    props.description && `${id}-description`,
    props.count && `${id}-count`,
  ].filter(Boolean)
  const control: FieldControl = {
    id,
    'aria-labelledby': label,
    'aria-describedby': notes.length > 0 ? notes.join(' ') : undefined,
    'aria-invalid': props.error ? true : undefined,
    'aria-required': props.required ? true : undefined,
    lang: props.lang,
    dir: props.lang === undefined ? undefined : 'auto',
  }
  const text = (
    <>
      {props.label}
      {props.required && (
        <>
          <span className={styles.required} aria-hidden="true">
            *
          </span>
          <Hidden> {parts.required}</Hidden>
        </>
      )}
    </>
  )
  const group = props.isGroup === true ? { role: 'group', 'aria-labelledby': label, 'aria-describedby': control['aria-describedby'] } : {}
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus is in the control inside
    <div
      className={styles.field}
      onBlur={({ currentTarget, relatedTarget }) => currentTarget.contains(relatedTarget) || props.onLeave?.()}
      {...group}
    >
      <div className={props.isLabelHidden ? hidden.hidden : styles.head}>
        {props.isGroup === true ? (
          <span className={styles.label} id={label}>
            {text}
          </span>
        ) : (
          <label className={styles.label} id={label} htmlFor={id}>
            {text}
          </label>
        )}
        {props.count !== undefined && <Count id={`${id}-count`} {...props.count} />}
        {props.aside !== undefined && <span className={styles.aside}>{props.aside}</span>}
      </div>
      {props.children(control)}
      {Boolean(props.error) && (
        <div className={styles.error} id={`${id}-error`}>
          <CircleAlert size={14} aria-hidden="true" />
          <div>{props.error}</div>
        </div>
      )}
      {Boolean(props.hint) && (
        <div className={styles.hint} id={`${id}-hint`}>
          {props.hint}
        </div>
      )}
      {Boolean(props.description) && (
        <p className={styles.description} id={`${id}-description`}>
          {props.description}
        </p>
      )}
    </div>
  )
}

function Count({ id, used, limit }: { readonly id: string; readonly used: number; readonly limit: number }) {
  const { parts } = useWords()
  return (
    <span className={classes(styles.count, used > limit && styles.over)} id={id}>
      <span aria-hidden="true">{parts.count(used, limit)}</span>
      <Hidden>{parts.countSaid(used, limit)}</Hidden>
    </span>
  )
}
