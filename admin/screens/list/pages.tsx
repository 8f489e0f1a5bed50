// The end of a list: its total, and the pages before and after.
import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.js'
import { useWords } from '../../parts/words.js'
import styles from './list.module.css'
import type { ChangeList } from './list-state.js'

/** A number of documents; exact up to a bound. */
export interface Total {
  readonly total: number
  readonly exact: boolean
}

interface PagesProps {
  readonly meta: { readonly next: string | null; readonly previous: string | null } | null
  readonly total: Total | null
  readonly change: ChangeList
}

/** The total, and buttons for the pages around. */
export function Pages({ meta, total, change }: PagesProps): ReactNode {
  const { list } = useWords()
  const go = (cursor: { readonly after?: string; readonly before?: string }) => {
    change(cursor)
    document.scrollingElement?.scrollTo({ top: 0 })
  }
  const { next = null, previous = null } = meta ?? {}
  return (
    <nav className={styles.pages} aria-label={list.page}>
      <span className={styles.total}>{total === null ? '' : total.exact ? list.total(total.total) : list.manyTotal(total.total)}</span>
      {(next !== null || previous !== null) && (
        <>
          <Button
            isSmall
            icon={<ChevronLeft />}
            isDisabled={previous === null}
            onPress={() => previous !== null && go({ before: previous })}
          >
            {list.previous}
          </Button>
          <Button isSmall isDisabled={next === null} onPress={() => next !== null && go({ after: next })}>
            {list.next}
            <ChevronRight className={styles.after} aria-hidden="true" />
          </Button>
        </>
      )}
    </nav>
  )
}
