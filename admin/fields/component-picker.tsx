// The dialog that asks for the component of a new entry of a zone.
import { Search } from 'lucide-react'
import { useState } from 'react'
import { Dialog } from '../parts/dialog.js'
import { TextInput } from '../parts/text-input.js'
import { useFormat, useWords } from '../parts/words.js'
import styles from './component-picker.module.css'
import { labelOf, type TypeDescription } from './document.js'

/** Minimum number of components for a search field. */
const manyComponents = 8

interface ComponentPickerProps {
  readonly type: TypeDescription
  readonly components: readonly string[]
  readonly onChoose: (uid: string) => void
  readonly onClose: () => void
}

const groupOf = (uid: string): string => uid.slice(0, Math.max(0, uid.indexOf('.')))

/** Components by their groups; the first one that is found is chosen by Enter. */
export default function ComponentPicker({ type, components, onChoose, onClose }: ComponentPickerProps) {
  const words = useWords().fields.entries
  const { parts } = useWords()
  const format = useFormat()
  const [text, setText] = useState('')
  const known = components.flatMap((uid) => {
    const component = type.components[uid]
    if (component === undefined) return []
    const fields = Object.keys(component.attributes).map((name) => labelOf(component.layout, name))
    return [{ uid, name: component.displayName, fields }]
  })
  const found = known.filter(({ name, uid }) => `${name} ${uid}`.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase()))
  const groups = [...new Set(found.map(({ uid }) => groupOf(uid)))]
  return (
    <Dialog isOpen onClose={onClose} title={words.pickerTitle}>
      <form
        className={styles.picker}
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          if (found[0] !== undefined) onChoose(found[0].uid)
        }}
      >
        {known.length >= manyComponents && (
          <TextInput
            autoFocus
            type="search"
            aria-label={parts.search}
            placeholder={parts.search}
            value={text}
            onChange={setText}
            start={<Search aria-hidden="true" />}
          />
        )}
        {groups.map((group) => (
          <section key={group} aria-label={group}>
            {groups.length > 1 && <h3 className={styles.title}>{group}</h3>}
            <ul className={styles.list}>
              {found
                .filter(({ uid }) => groupOf(uid) === group)
                .map(({ uid, name, fields }) => (
                  <li key={uid}>
                    <button type="button" className={styles.component} onClick={() => onChoose(uid)}>
                      <span className={styles.name}>{name}</span>
                      <span className={styles.fields}>{format.list(fields)}</span>
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        {found.length === 0 && <p role="status">{parts.nothingFound}</p>}
      </form>
    </Dialog>
  )
}
