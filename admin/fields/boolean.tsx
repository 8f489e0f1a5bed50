// Yes and no; without a default and not required, also neither of them.
import { useValue } from '../form/hooks.js'
import { Switch } from '../parts/switch.js'
import { useWords } from '../parts/words.js'
import styles from './boolean.module.css'
import { type FieldProps, useDocumentFields } from './document.js'

const choices = [
  { name: 'yes', value: true },
  { name: 'no', value: false },
  { name: 'notSet', value: null },
] as const

/** A switch, or three choices where the value may be missing. */
export function BooleanField({ control, path, attribute, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const words = useWords().fields
  const value = useValue(store, path)
  const { id, lang: _, dir: __, 'aria-required': ___, ...described } = control
  if (attribute.required === true || typeof attribute.default === 'boolean')
    return (
      <span className={styles.switch}>
        <Switch id={id} {...described} isOn={value === true} disabled={isReadOnly} onChange={(isOn) => store.set(path, isOn)}>
          {value === true ? words.yes : words.no}
        </Switch>
      </span>
    )
  return (
    <div role="radiogroup" {...described} className={styles.choices}>
      {choices.map(({ name, value: one }) => (
        <label key={name} className={styles.choice}>
          <input
            id={one === true ? id : undefined}
            type="radio"
            name={id}
            className={styles.radio}
            checked={(value ?? null) === one}
            disabled={isReadOnly}
            onChange={() => store.set(path, one, { isTyping: false })}
          />
          {words[name]}
        </label>
      ))}
    </div>
  )
}
