// State of a document: a word and a colour.
import { classes } from './classes.js'
import styles from './state.module.css'
import { useWords } from './words.js'

/** State of a document in one language; `plain` for types without drafts. */
export type StateName = 'draft' | 'changed' | 'published' | 'missing' | 'plain'

/** The state of a document as a word with a mark. */
export function State({ state, isQuiet = false }: { readonly state: StateName; readonly isQuiet?: boolean }) {
  const { parts } = useWords()
  return (
    <span className={classes(styles.state, styles[state], isQuiet && styles.quiet)} title={parts.stateMeaning[state]}>
      <span className={styles.mark} aria-hidden="true" />
      {parts.state[state]}
    </span>
  )
}
