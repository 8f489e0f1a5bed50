// Differences of two versions of a document by attribute, with their words marked.

import { type ReactNode, useId } from 'react'
import { labelOf } from '../../fields/document.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { classes } from '../../parts/classes.js'
import { Hidden } from '../../parts/hidden.js'
import { useWords } from '../../parts/words.js'
import styles from './comparison.module.css'
import type { TypeDescription } from './document-form.js'
import { differingAttributes, textOf } from './values-as-text.js'
import { compareWords } from './word-difference.js'

/** Words of two texts: those of one of them are marked. */
export function WordDifference({
  before,
  after,
  side,
}: {
  readonly before: string
  readonly after: string
  readonly side?: 'before' | 'after'
}) {
  const words = useWords().editor.compare
  const parts = compareWords(before, after).filter(
    ({ kind }) => side === undefined || kind === 'same' || kind === (side === 'before' ? 'removed' : 'added'),
  )
  if (parts.length === 0) return <span className={styles.empty}>{words.empty}</span>
  return (
    <span className={styles.words} dir="auto">
      {parts.map(({ kind, text }, index) => {
        if (kind === 'same') return <span key={index}>{text}</span>
        const Mark = kind === 'removed' ? 'del' : 'ins'
        return (
          <Mark key={index} className={classes(styles[kind], side === undefined && kind === 'removed' && styles.struck)}>
            <Hidden>{kind === 'removed' ? words.removed : words.added} </Hidden>
            {text}
          </Mark>
        )
      })}
    </span>
  )
}

/** A version of a document. */
export interface Side {
  readonly title: ReactNode
  /** The title as a text, above each value on narrow screens. */
  readonly name: string
  readonly data: Entry
  readonly lang?: string | null
  /** A button next to the title. */
  readonly action?: ReactNode
}

interface ComparisonProps {
  readonly type: TypeDescription
  readonly left: Side
  readonly right: Side
  /** Restores the value of the left side. */
  readonly onRestore?: (name: string) => void
  readonly mayRestore?: (name: string) => boolean
  readonly isEverything?: boolean
  /** Attributes that were restored: their rows stay in their places. */
  readonly restored?: readonly string[]
  readonly same: string
}

/** The button that restored a value is gone: its mark has the focus instead. */
const takeLostFocus = (mark: HTMLElement | null) => {
  if (document.activeElement === document.body) mark?.focus({ preventScroll: true })
}

/** The attributes of two versions, in the order of the layout. */
export function Comparison({ type, left, right, onRestore, mayRestore, isEverything = false, restored = [], same }: ComparisonProps) {
  const words = useWords().editor
  const id = useId()
  const differing = differingAttributes(type, left.data, right.data)
  const all = type.layout.layouts.edit.flat().map(({ name }) => name)
  const kept = [...new Set([...all, ...restored, ...differing])].filter((name) => restored.includes(name) || differing.includes(name))
  const everything = all.filter((name) => name in left.data || name in right.data)
  const names = isEverything ? everything : kept
  // Words of two languages are all different.
  const isTranslation = left.lang !== right.lang
  return (
    <div className={styles.comparison}>
      <div className={styles.heads}>
        <div>
          {left.title}
          {left.action}
        </div>
        <div>{right.title}</div>
      </div>
      {names.map((name) => {
        const [before, after] = [textOf(left.data[name]), textOf(right.data[name])]
        return (
          <section key={name} className={styles.row}>
            <div className={styles.head}>
              <h3 id={`${id}${name}`}>{labelOf(type.layout, name)}</h3>
              {restored.includes(name) && !differing.includes(name) && (
                // biome-ignore lint/a11y/useSemanticElements: A fieldset is for controls.
                <span
                  ref={takeLostFocus}
                  id={`${id}${name}-restored`}
                  role="group"
                  aria-labelledby={`${id}${name} ${id}${name}-restored`}
                  tabIndex={-1}
                >
                  {words.history.restoredMark}
                </span>
              )}
              {mayRestore?.(name) && differing.includes(name) && (
                <Button isSmall onPress={() => onRestore?.(name)}>
                  {words.history.restore}
                </Button>
              )}
            </div>
            <div className={styles.sides}>
              {([left, right] as const).map(({ name: sideName, lang }, index) => {
                const own = index === 0 ? before : after
                return (
                  <div key={index} className={styles.side}>
                    <p className={styles.sideName}>{sideName}</p>
                    <div lang={lang ?? undefined}>
                      <WordDifference
                        before={isTranslation ? own : before}
                        after={isTranslation ? own : after}
                        side={index === 0 ? 'before' : 'after'}
                      />
                    </div>
                  </div>
                )
              })}
            </div>
          </section>
        )
      })}
      {(isEverything ? names : differing).length === 0 && <p className={styles.same}>{same}</p>}
    </div>
  )
}
