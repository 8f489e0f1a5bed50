// What is shown where there is nothing yet: what belongs here, and how it gets here.
import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'

/** A remark in an empty place, with its actions. */
export interface EmptyStateProps {
  readonly icon?: ReactNode
  readonly title: string
  readonly text?: ReactNode
  /** Buttons or links. */
  readonly children?: ReactNode
}

/** What belongs into an empty place, and how it gets there. */
export function EmptyState({ icon, title, text, children }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {icon !== undefined && (
        <div className={styles.icon} aria-hidden="true">
          {icon}
        </div>
      )}
      <p className={styles.title}>{title}</p>
      {text !== undefined && <p className={styles.text}>{text}</p>}
      {children !== undefined && <div className={styles.actions}>{children}</div>}
    </div>
  )
}
