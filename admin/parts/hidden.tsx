// Text for screen readers alone.
import type { ReactNode } from 'react'
import styles from './hidden.module.css'

/** Text that only screen readers find. */
export function Hidden({ children, id }: { readonly children: ReactNode; readonly id?: string }) {
  return (
    <span className={styles.hidden} id={id}>
      {children}
    </span>
  )
}
