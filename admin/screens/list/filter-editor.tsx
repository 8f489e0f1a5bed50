// The popover of a list's filters; its form is loaded after the list.
import { lazy, type ReactElement, type ReactNode, Suspense, useEffect } from 'react'
import { Popover } from '../../parts/popover.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useWords } from '../../parts/words.js'
import type { ConditionGroup } from './conditions.js'
import formStyles from './filter-form.module.css'
import type { TypeInfo } from './list-query.js'

const loadForm = () => import('./filter-form.js')
const FilterForm = lazy(loadForm)

/** After the list has asked for its own files. */
const preloadMs = 1_000

interface FilterEditorProps {
  readonly type: TypeInfo
  readonly locale: string | null
  readonly group: ConditionGroup
  readonly trigger: ReactElement
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  readonly onChange: (group: ConditionGroup) => void
}

/** The form of the filters in a popover. */
export function FilterEditor({ type, locale, group, trigger, isOpen, onOpenChange, onChange }: FilterEditorProps): ReactNode {
  const { list } = useWords()
  useEffect(() => {
    // Otherwise the first characters typed into it would be lost while it loads.
    const timer = setTimeout(() => void loadForm().catch(() => {}), preloadMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Popover trigger={trigger} label={list.conditions.title} isOpen={isOpen} onOpenChange={onOpenChange}>
      {/* As wide as the form: the popover would otherwise overflow when the form arrives, and its focus scroll the page sideways. */}
      <Suspense
        fallback={
          <div className={formStyles.form}>
            <Skeleton lines={2} />
          </div>
        }
      >
        <FilterForm
          type={type}
          locale={locale}
          group={group}
          onChange={(next) => {
            onChange(next)
            onOpenChange(false)
          }}
        />
      </Suspense>
    </Popover>
  )
}
