// The bar of what can be done with the selected rows.
import { X } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { ListState } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { IconButton } from '../../parts/icon-button.js'
import { useWords } from '../../parts/words.js'
import type { QueryData } from '../../server/query-string.js'
import type { BulkAction } from './bulk-actions.js'
import type { LocaleInfo } from './columns.js'
import styles from './list.module.css'
import type { TypeInfo } from './list-query.js'
import type { Total } from './pages.js'

const BulkDialog = lazy(() => import('./bulk-dialog.js').then((module) => ({ default: module.BulkDialog })))

/** The selection of a list. */
export interface BulkBarProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly locales: readonly LocaleInfo[]
  /** Parameters that select all rows of the list. */
  readonly selection: Readonly<Record<string, QueryData>>
  readonly selected: ReadonlySet<string>
  readonly names: ReadonlyMap<string, string>
  readonly pageKeys: readonly string[]
  readonly total: Total | null
  readonly onClear: () => void
}

/** The number of selected rows, and the actions on them. */
export default function BulkBar(props: BulkBarProps): ReactNode {
  const { type, selected, pageKeys, total, onClear } = props
  const { list } = useWords()
  const [isAll, setAll] = useState(false)
  const [action, setAction] = useState<BulkAction | null>(null)
  const isPageSelected = pageKeys.every((key) => selected.has(key))
  const hasMore = total !== null && (!total.exact || total.total > selected.size)
  const may = (right: string) => type.actions.includes(right as TypeInfo['actions'][number])
  const all = isAll && isPageSelected
  return (
    <section className={styles.bulk} aria-label={list.selection}>
      <IconButton label={list.clearSelection} keys="Esc" isSmall onPress={onClear}>
        <X />
      </IconButton>
      <output className={styles.chosen}>
        {all && total !== null ? list.allSelected(total.total, total.exact) : list.selected(selected.size)}
      </output>
      {!all && isPageSelected && hasMore && (
        <Button kind="quiet" isSmall onPress={() => setAll(true)}>
          {list.selectAll(total.total, total.exact)}
        </Button>
      )}
      <span className={styles.bulkActions}>
        {type.draftAndPublish && may('publish') && (
          <>
            <Button isSmall onPress={() => setAction('publish')}>
              {list.publish}
            </Button>
            <Button isSmall onPress={() => setAction('unpublish')}>
              {list.unpublish}
            </Button>
          </>
        )}
        {may('update') && (
          <Button isSmall onPress={() => setAction('edit')}>
            {list.edit}
          </Button>
        )}
        {may('delete') && (
          <Button isSmall kind="danger" onPress={() => setAction('delete')}>
            {list.remove}
          </Button>
        )}
      </span>
      {action !== null && (
        <Suspense>
          <BulkDialog {...props} action={action} isAll={all} onClose={() => setAction(null)} />
        </Suspense>
      )}
    </section>
  )
}
