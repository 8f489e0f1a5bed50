// The two sides of a conflict, and the choice between them.
import type { Conflict } from '../../form/merge.js'
import type { DocumentStore } from '../../form/store.js'
import { Button } from '../../parts/button.js'
import { useFormat, useWords } from '../../parts/words.js'
import { WordDifference } from './comparison.js'
import styles from './conflict.module.css'
import { textOf } from './values-as-text.js'

interface ChoiceProps {
  readonly store: DocumentStore
  readonly conflict: Conflict
}

/** Both sides of a conflict with their buttons. */
export default function ConflictChoice({ store, conflict }: ChoiceProps) {
  const format = useFormat()
  const words = useWords().editor.conflict
  const { path, mine, theirs, by } = conflict
  const time = by?.time == null ? null : format.dateTime(new Date(by.time))
  const title = (mine === undefined ? words.removedMine : theirs === undefined ? words.removedTheirs : words.title)(
    by?.person ?? null,
    time,
  )
  const isRemoval = mine === undefined || theirs === undefined
  const removes = mine === undefined ? 'mine' : 'theirs'
  return (
    <fieldset className={styles.conflict} aria-label={title}>
      <p className={styles.title}>{title}</p>
      {!isRemoval && (
        <div className={styles.text}>
          <WordDifference before={textOf(store.get(path))} after={textOf(theirs)} />
        </div>
      )}
      <p className={styles.help}>{words.help}</p>
      <div className={styles.buttons}>
        {isRemoval ? (
          <>
            <Button isSmall onPress={() => store.decide(path, removes === 'mine' ? 'theirs' : 'mine')}>
              {words.keep}
            </Button>
            <Button isSmall kind="danger" onPress={() => store.decide(path, removes)}>
              {words.remove}
            </Button>
          </>
        ) : (
          <>
            <Button isSmall onPress={() => store.decide(path, 'mine')}>
              {words.mine}
            </Button>
            <Button isSmall onPress={() => store.decide(path, 'theirs')}>
              {words.theirs}
            </Button>
          </>
        )}
      </div>
    </fieldset>
  )
}
