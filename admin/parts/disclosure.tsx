// A head that shows and hides its content.
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { classes } from './classes.js'
import styles from './disclosure.module.css'

/** A head and its content. */
interface DisclosureProps {
  /** The text of the head, inside its button. */
  readonly head: ReactNode
  /** Before the button: handles. */
  readonly before?: ReactNode
  readonly actions?: ReactNode
  readonly isOpen?: boolean
  readonly defaultOpen?: boolean
  readonly onChange?: (isOpen: boolean) => void
  /** Level of the heading around the button; none without it. */
  readonly level?: 2 | 3 | 4
  readonly className?: string
  readonly children: ReactNode
}

/** A head that shows and hides its content, which is drawn while it is open. */
export function Disclosure(props: DisclosureProps) {
  const [isOpenHere, setOpen] = useState(props.defaultOpen ?? false)
  const isOpen = props.isOpen ?? isOpenHere
  const content = useId()
  const button = (
    <button
      type="button"
      className={styles.button}
      aria-expanded={isOpen}
      aria-controls={isOpen ? content : undefined}
      onClick={() => {
        setOpen(!isOpen)
        props.onChange?.(!isOpen)
      }}
    >
      <ChevronRight size={16} className={classes(styles.arrow, isOpen && styles.open)} aria-hidden="true" />
      <span className={styles.words}>{props.head}</span>
    </button>
  )
  const Heading = props.level === undefined ? null : (`h${props.level}` as const)
  return (
    <div className={props.className}>
      <div className={styles.head}>
        {props.before}
        {Heading === null ? button : <Heading className={styles.heading}>{button}</Heading>}
        {props.actions}
      </div>
      {isOpen && (
        <div id={content} className={styles.content}>
          {props.children}
        </div>
      )}
    </div>
  )
}
