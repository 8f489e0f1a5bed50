// A text for empty lists and boxes: their purpose, and the first action.
import type { ReactNode } from 'react'
import styles from './empty-state.module.css'

/** A text for an empty list or box, with its actions. */
interface EmptyStateProps {
  readonly icon?: ReactNode
  readonly title: string
  readonly text?: ReactNode
  /** Buttons or links. */
  readonly children?: ReactNode
}

/** A text for an empty list or box, with its actions. */
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
