// Documents as links, with their type, state, and the latest change.
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { PlannedMark, State } from '../../parts/state.js'
import { useWords } from '../../parts/words.js'
import type { Data } from '../../server/client.js'
import { personName } from '../../words/format.js'
import type { Start } from '../shell/type-names.js'
import styles from './home.module.css'

type HomeDocument = Data<'/home', 'GET'>['recent'][number]

interface RowsProps {
  readonly start: Start
  readonly documents: readonly HomeDocument[]
  readonly scheduled: Data<'/schedule', 'GET'>
  readonly empty: string
  readonly showsAuthor?: boolean
}

/** A list of documents, or a text instead. */
export function DocumentRows({ start, documents, scheduled, empty, showsAuthor = false }: RowsProps): ReactNode {
  const { startPage } = useWords().shell
  if (documents.length === 0) return <p className={styles.empty}>{empty}</p>
  const isDefault = (locale: string | null) => locale === null || start.locales.some(({ code, isDefault: is }) => is && code === locale)
  return (
    <ul className={styles.rows}>
      {documents.map((document) => {
        const { type, documentId, locale, name, displayName, state, updatedAt } = document
        const planned = scheduled.find((one) => one.documentId === documentId && one.locale === locale && one.error === null)
        const author = showsAuthor ? personName(document.updatedBy ?? {}) : ''
        return (
          <li key={`${type} ${documentId} ${locale}`} className={styles.row}>
            <span className={styles.what}>
              <Link href={addresses.document(type, documentId, locale)} lang={locale ?? undefined} dir="auto" className={styles.name}>
                {name || startPage.untitled}
              </Link>
              <span className={styles.note}>
                {displayName}
                {!isDefault(locale) && <span className={styles.locale}>{locale}</span>}
                {author !== '' && <span>{startPage.by(author)}</span>}
              </span>
            </span>
            <span className={styles.aside}>
              <span className={styles.note}>
                {planned && <PlannedMark {...planned} />}
                {state !== undefined && <State state={state} isQuiet />}
              </span>
              {updatedAt !== null && (
                <span className={styles.note}>
                  <RelativeTime date={updatedAt} />
                </span>
              )}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
