// Documents by state, a bar for each type.
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { classes } from '../../parts/classes.js'
import { Hidden } from '../../parts/hidden.js'
import { useFormat, useWords } from '../../parts/words.js'
import type { Data } from '../../server/client.js'
import { listName, type Start } from '../shell/type-names.js'
import styles from './home.module.css'

type TypeStates = Data<'/home', 'GET'>['states'][number]

/** States from the bottom of a bar to its top. */
export const order = ['published', 'changed', 'draft'] as const

const totalOf = (states: TypeStates): number => order.reduce((sum, name) => sum + states[name].total, 0)

/** The colours of the states. */
export function Legend(): ReactNode {
  const { parts } = useWords()
  return (
    <ul className={styles.legend} aria-hidden="true">
      {order.map((name) => (
        <li key={name} className={styles.key}>
          <span className={classes(styles.swatch, styles[name])} />
          {parts.state[name]}
        </li>
      ))}
    </ul>
  )
}

/** Bars whose lengths are relative to the largest type; each part leads to its list. */
export function StateChart({ start, states }: { readonly start: Start; readonly states: readonly TypeStates[] }): ReactNode {
  const { shell } = useWords()
  const { number } = useFormat()
  const used = states.filter((one) => totalOf(one) > 0).toSorted((one, other) => totalOf(other) - totalOf(one))
  const most = Math.max(1, ...used.map(totalOf))
  return (
    <>
      <Legend />
      <ul className={styles.chart}>
        {used.map((one) => {
          const { type, displayName, draft, changed, published } = one
          const known = start.types.find(({ uid }) => uid === type)
          const label = known === undefined ? displayName : listName(known)
          const isExact = draft.exact && changed.exact && published.exact
          return (
            <li key={type}>
              <Link href={addresses.list(type)}>
                <span className={styles.barName}>{label}</span>
                <Hidden>{shell.startPage.statesOf(draft.total, changed.total, published.total)}</Hidden>
                <span className={styles.bar} style={{ inlineSize: `${(100 * totalOf(one)) / most}%` }}>
                  {order.map((name) => (
                    <span
                      key={name}
                      className={classes(styles.part, styles[name])}
                      style={{ flexGrow: one[name].total }}
                      hidden={one[name].total === 0}
                    />
                  ))}
                </span>
                <span className={styles.barTotal}>{isExact ? number(totalOf(one)) : shell.startPage.atLeast(totalOf(one))}</span>
              </Link>
            </li>
          )
        })}
      </ul>
    </>
  )
}
