// Scheduled actions with their time, document and language.
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { classes } from '../../parts/classes.js'
import { useFormat, useWords } from '../../parts/words.js'
import type { Data } from '../../server/client.js'
import styles from './home.module.css'

/** Scheduled actions in the order of time; those that were refused say so. */
export function ScheduledRows({ actions }: { readonly actions: Data<'/schedule', 'GET'> }): ReactNode {
  const { editor, shell } = useWords()
  const format = useFormat()
  return (
    <ul className={styles.rows}>
      {actions.map(({ type, documentId, locale, name, displayName, action, at, error }) => (
        <li key={`${type} ${documentId} ${locale} ${action}`} className={styles.row}>
          <span className={styles.what}>
            <Link href={addresses.document(type, documentId, locale)} lang={locale ?? undefined} dir="auto" className={styles.name}>
              {name || shell.startPage.untitled}
            </Link>
            <span className={styles.note}>
              {displayName}
              {locale !== null && <span className={styles.locale}>{locale}</span>}
            </span>
          </span>
          <span className={classes(styles.aside, styles.when)}>
            <time className={error === null ? styles.note : styles.refused} dateTime={at} title={format.fullTime(new Date(at))}>
              {(error === null ? editor.schedule.planned : editor.schedule.refused)[action](format.dateTime(new Date(at)))}
            </time>
          </span>
        </li>
      ))}
    </ul>
  )
}
