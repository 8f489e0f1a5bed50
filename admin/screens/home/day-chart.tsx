// Documents by the day of their latest change, a column for each day.
import type { CSSProperties, ReactNode } from 'react'
import { classes } from '../../parts/classes.js'
import { Hidden } from '../../parts/hidden.js'
import { useFormat, useWords } from '../../parts/words.js'
import type { Data } from '../../server/client.js'
import styles from './home.module.css'
import { Legend, order } from './state-chart.js'

type Day = Data<'/home', 'GET'>['days'][number]

const totalOf = (day: Day): number => order.reduce((sum, name) => sum + day[name], 0)

/** Columns whose heights are relative to the day with the most changes. */
export function DayChart({ days }: { readonly days: readonly Day[] }): ReactNode {
  const { startPage } = useWords().shell
  const { number, date, language } = useFormat()
  const weekdays = new Intl.DateTimeFormat(language, { weekday: 'narrow' })
  const most = Math.max(1, ...days.map(totalOf))
  return (
    <>
      <p className={styles.note}>{startPage.daysText}</p>
      <Legend />
      <ol className={styles.days}>
        {days.map((one) => {
          const total = totalOf(one)
          const at = new Date(`${one.day}T12:00:00`)
          return (
            <li key={one.day} className={styles.day}>
              <Hidden>
                {date(at)}: {startPage.statesOf(one.draft, one.changed, one.published)}
                {!one.exact && ` (${startPage.atLeast(total)})`}
              </Hidden>
              <span className={styles.dayBar}>
                <span className={styles.dayTotal} aria-hidden="true">
                  {total > 0 && number(total)}
                  {!one.exact && '+'}
                </span>
                <span className={styles.column} style={{ '--part': total / most } as CSSProperties}>
                  {order.map((name) => (
                    <span
                      key={name}
                      className={classes(styles.part, styles[name])}
                      style={{ flexGrow: one[name] }}
                      hidden={one[name] === 0}
                    />
                  ))}
                </span>
              </span>
              <span className={styles.dayName} aria-hidden="true">
                {weekdays.format(at)}
                <br />
                {at.getDate()}
              </span>
            </li>
          )
        })}
      </ol>
    </>
  )
}
