// The number of errors in something folded.
import { CircleAlert } from 'lucide-react'
import { Hidden } from '../parts/hidden.js'
import { useWords } from '../parts/words.js'
import styles from './error-count.module.css'

/** A number of errors; nothing for none. */
export function ErrorCount({ count }: { readonly count: number }) {
  const words = useWords().fields
  if (count === 0) return null
  return (
    <span className={styles.count}>
      <CircleAlert size={14} aria-hidden="true" />
      <span aria-hidden="true">{count}</span>
      <Hidden>{words.errorCount(count)}</Hidden>
    </span>
  )
}
