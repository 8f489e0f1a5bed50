// The languages of a document and their states, as codes with marks.
import { CalendarClock } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../../parts/classes.js'
import { Hidden } from '../../parts/hidden.js'
import { type StateName, usePlanned } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { type LocaleInfo, plannedIn, type Row } from './columns.js'
import styles from './list.module.css'

/** The state of a document in one locale. */
export interface LocaleState {
  readonly locale: string | null
  readonly state: StateName | null
}

interface LocaleMarksProps {
  readonly row: Row
  readonly locales: readonly LocaleInfo[]
  readonly hasDrafts: boolean
}

/** Languages shown in a cell; the others are a number. */
const shown = 4

/** The languages of a document: filled for published, half for changed, empty for drafts, faint for missing ones; a clock for scheduled ones. */
export function LocaleMarks({ row, locales, hasDrafts }: LocaleMarksProps): ReactNode {
  const words = useWords()
  const format = useFormat()
  const sentence = usePlanned()
  const states = locales.map(({ code }) => {
    const found = row.locales?.find(({ locale }) => locale === code)
    const own = row.locale === code ? (row.state ?? 'plain') : 'missing'
    const state = row.locales === undefined ? own : found === undefined ? 'missing' : (found.state ?? 'plain')
    return { code, state: state === 'published' && !hasDrafts ? 'plain' : state, planned: plannedIn(row, code) } as const
  })
  const visible =
    states.length > shown
      ? [...states.filter((one) => one.state !== 'missing'), ...states.filter((one) => one.state === 'missing')]
      : states
  return (
    <span className={styles.locales}>
      {visible.slice(0, shown).map(({ code, state, planned }) => {
        const text = words.list.localeState(format.languageName(code), words.parts.state[state])
        const said = planned === undefined ? text : `${text}. ${sentence(planned)}`
        return (
          <span key={code} className={classes(styles.locale, styles[state])} title={said}>
            <span aria-hidden="true">{code}</span>
            {planned && <CalendarClock size={12} aria-hidden="true" />}
            <Hidden>{said}. </Hidden>
          </span>
        )
      })}
      {visible.length > shown && <span className={styles.more}>{words.list.more(visible.length - shown)}</span>}
    </span>
  )
}
