// A component that is there once or not at all, folded with a line about its content.
import { Plus, Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import { useErrorCount, useValue } from '../form/hooks.js'
import { createEntry, type Entry, type FormAttributes } from '../form/values.js'
import { Button } from '../parts/button.js'
import { Disclosure } from '../parts/disclosure.js'
import { IconButton } from '../parts/icon-button.js'
import { useToasts } from '../parts/toasts.js'
import { useWords } from '../parts/words.js'
import { defaultsOf } from './defaults.js'
import { entrySection, type FieldProps, mayBegin, mayRemove, useDocumentFields, writableValues } from './document.js'
import { Entries } from './entries.js'
import styles from './entries.module.css'
import { EntryHead } from './entry-row.js'
import { useIsOpen } from './folding.js'
import { entrySummary } from './summaries.js'

/** One component, or a list of entries. */
export function ComponentField(props: FieldProps) {
  return props.attribute.repeatable === true ? <Entries {...props} /> : <SingleComponent {...props} />
}

function SingleComponent({ control, path, names, attribute, label, isReadOnly, Rows }: FieldProps) {
  const document = useDocumentFields()
  const { store, type, folding, mayUpdate } = document
  const words = useWords().fields.entries
  const toasts = useToasts()
  const value = useValue(store, path) as Entry | null | undefined
  const errors = useErrorCount(store, path)
  const isOpen = useIsOpen(folding, path)
  const uid = String(attribute.component)
  const section = useMemo(() => entrySection(type, uid, path, names), [type, uid, path, names])
  if (section === null) return <p className={styles.nothing}>{words.notVisible}</p>
  const name = type.components[uid]?.displayName ?? label
  const add = () => {
    folding.set(path, true)
    const defaults = writableValues(mayUpdate, names, defaultsOf(section.attributes))
    store.set(path, createEntry(store.shape, section.attributes as FormAttributes, defaults, ''), { isTyping: false })
  }
  const remove = () => {
    const removed = store.get(path)
    store.set(path, null, { isTyping: false })
    toasts.say(words.removed(label), { action: { label: words.undo, onPress: () => store.set(path, removed, { isTyping: false }) } })
  }
  if (value === null || value === undefined)
    return isReadOnly || !mayBegin(document, names, section.attributes) ? (
      <p className={styles.nothing}>{words.nothing}</p>
    ) : (
      <div>
        <Button id={control.id} isSmall icon={<Plus size={16} aria-hidden="true" />} onPress={add}>
          {words.add(name)}
        </Button>
      </div>
    )
  return (
    <Disclosure
      className={styles.entry}
      isOpen={isOpen}
      onChange={(open) => folding.set(path, open)}
      head={<EntryHead kind={name} summary={isOpen ? '' : entrySummary(type, uid, value)} errors={errors} />}
      actions={
        isReadOnly || !mayRemove(document, section, value) ? undefined : (
          <IconButton isSmall label={words.remove(label)} onPress={remove}>
            <Trash2 size={15} aria-hidden="true" />
          </IconButton>
        )
      }
    >
      <div className={styles.body}>
        <Rows section={section} />
      </div>
    </Disclosure>
  )
}
