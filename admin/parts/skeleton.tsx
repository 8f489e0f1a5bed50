// Outlines of content that is loading.
import { Hidden } from './hidden.js'
import styles from './skeleton.module.css'
import { useWords } from './words.js'

/** Widths of the lines in turn, so that they look like text. */
const widths = ['60%', '85%', '45%', '72%']

/** Outlines of lines; appears after a short while, so that quick loads show nothing. */
export function Skeleton({ lines = 3, isField = false }: { readonly lines?: number; readonly isField?: boolean }) {
  const { parts } = useWords()
  return (
    <div className={styles.skeleton} role="status">
      <Hidden>{parts.loading}</Hidden>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} aria-hidden="true" className={isField ? styles.field : styles.row}>
          <span className={styles.line} style={{ inlineSize: isField ? '30%' : widths[line % widths.length] }} />
          {isField && <span className={styles.box} />}
        </div>
      ))}
    </div>
  )
}
