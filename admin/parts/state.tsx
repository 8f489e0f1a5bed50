// Document state as a coloured label, and a clock for scheduled actions.
import { CalendarClock } from 'lucide-react'
import { classes } from './classes.js'
import styles from './state.module.css'
import { useFormat, useWords } from './words.js'

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

/** A publication at a later time, or its withdrawal. */
export interface Planned {
  readonly action: 'publish' | 'unpublish'
  readonly at: string
}

/** Returns how a scheduled action is said. */
export function usePlanned(): (planned: Planned) => string {
  const { planned } = useWords().editor.schedule
  const format = useFormat()
  return ({ action, at }) => planned[action](format.dateTime(new Date(at)))
}

/** Clock icon labelled with the scheduled action. */
export function PlannedMark(planned: Planned) {
  const text = usePlanned()(planned)
  return (
    <span role="img" aria-label={text} title={text} className={styles.planned}>
      <CalendarClock size={14} aria-hidden="true" />
    </span>
  )
}
