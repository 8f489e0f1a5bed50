// Entries of a repeatable component or of a dynamic zone: folded, in any number and order.
import { ClipboardPaste, Plus } from 'lucide-react'
import { type ClipboardEvent, lazy, Suspense, useCallback, useRef, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { joinPath } from '../form/paths.js'
import { attributesOf, createEntry, type Entry, type FormAttribute, keyOf } from '../form/values.js'
import { announce } from '../parts/announce.js'
import { Button } from '../parts/button.js'
import { useSortable } from '../parts/sortable.js'
import { useToasts } from '../parts/toasts.js'
import { useWords } from '../parts/words.js'
import { defaultsOf } from './defaults.js'
import { type DocumentFields, type FieldProps, fieldId, mayBegin, useDocumentFields, writableValues } from './document.js'
import styles from './entries.module.css'
import { type CopiedEntry, readEntries, writeEntries } from './entry-clipboard.js'
import { type EntryActions, EntryRow } from './entry-row.js'

const ComponentPicker = lazy(() => import('./component-picker.js'))
const MoveTo = lazy(() => import('../parts/move-to.js'))

const uidOf = (attribute: FormAttribute, entry: Entry): string => String(entry.__component ?? attribute.component)

/** Components that a list or a zone takes. */
const allowedIn = (attribute: FormAttribute): readonly string[] =>
  attribute.type === 'dynamiczone' ? (attribute.components ?? []) : [String(attribute.component)]

/** A new entry with the values of another one, or with defaults. */
function makeEntry(
  { store, mayUpdate }: DocumentFields,
  { attribute, names }: Pick<FieldProps, 'attribute' | 'names'>,
  uid: string,
  values?: Entry,
): Entry {
  const named = attribute.type === 'dynamiczone' ? { __component: uid } : {}
  const attributes = attributesOf(store.shape, attribute, named)
  const given = writableValues(mayUpdate, names, values ?? defaultsOf(attributes))
  return createEntry(store.shape, attributes, { ...given, ...named })
}

/** A list of entries with their order. */
export function Entries(props: FieldProps) {
  const { path, attribute, isReadOnly, names, Rows } = props
  const document = useDocumentFields()
  const { store, type } = document
  const { entries: words } = useWords().fields
  const value = useValue(store, path)
  const list = (Array.isArray(value) ? value : []) as readonly Entry[]
  const editing = useEntries(props, list)
  const { actions, nameOf, adding, setAdding, moved, setMoved, paste, add } = editing
  const isZone = attribute.type === 'dynamiczone'
  const max = typeof attribute.max === 'number' ? attribute.max : Number.POSITIVE_INFINITY
  const mayAdd = !isReadOnly && (isZone || mayBegin(document, names, attributesOf(store.shape, attribute, {})))
  const hasRoom = list.length < max && mayAdd
  const onPaste = (event: ClipboardEvent) => {
    const isText = event.target instanceof Element && event.target.closest('input, textarea, [contenteditable]') !== null
    const entries = isText || !hasRoom ? null : readEntries(event.clipboardData.getData('text/plain'))
    if (entries === null) return
    event.preventDefault()
    paste(entries, list.length)
  }
  return (
    <div className={styles.entries} onPaste={onPaste}>
      {list.length === 0 && !mayAdd && <p className={styles.nothing}>{words.nothing}</p>}
      {list.length > 0 && (
        <ol className={styles.list}>
          {list.map((entry, index) => (
            <EntryRow
              key={keyOf(entry)}
              {...{ entry, index, isReadOnly, hasRoom, isZone, names, actions, Rows, document }}
              path={joinPath(path, keyOf(entry)!)}
              uid={uidOf(attribute, entry)}
              isAlone={list.length === 1}
            />
          ))}
        </ol>
      )}
      {mayAdd && (
        <div className={styles.foot}>
          <Button
            id={props.control.id}
            isSmall
            isDisabled={!hasRoom}
            icon={<Plus size={16} aria-hidden="true" />}
            onPress={() => setAdding(list.length)}
          >
            {isZone ? words.addTo : words.add(type.components[String(attribute.component)]?.displayName ?? '')}
          </Button>
          <Button
            kind="quiet"
            isSmall
            isDisabled={!hasRoom}
            icon={<ClipboardPaste size={16} aria-hidden="true" />}
            onPress={() => void editing.pasteFromClipboard()}
          >
            {words.paste}
          </Button>
          {list.length >= max && <span className={styles.nothing}>{words.full(max)}</span>}
        </div>
      )}
      <Suspense>
        {adding !== null && isZone && (
          <ComponentPicker
            type={type}
            components={allowedIn(attribute)}
            onClose={() => setAdding(null)}
            onChoose={(uid) => add(makeEntry(document, props, uid), adding, true)}
          />
        )}
        {moved !== null && (
          <MoveTo
            isOpen
            name={nameOf(moved)}
            total={list.length}
            position={list.findIndex((entry) => keyOf(entry) === moved)}
            onMove={(to) => actions.sortable.moveTo(moved, to)}
            onClose={() => setMoved(null)}
          />
        )}
      </Suspense>
    </div>
  )
}

/** Text inputs; a file field contains a hidden input. */
const texts = 'input:not([type="file"]), textarea, [contenteditable="true"]'

/** Changes of a list by its buttons, keys and the clipboard. */
function useEntries(props: FieldProps, list: readonly Entry[]) {
  const { path, attribute } = props
  const document = useDocumentFields()
  const { store, type, folding } = document
  const { entries: words } = useWords().fields
  const toasts = useToasts()
  const [adding, setAddingIndex] = useState<number | null>(null)
  const [moved, setMoved] = useState<string | null>(null)
  const latest = useRef(list)
  latest.current = list

  const nameOf = (key: string): string => {
    const index = latest.current.findIndex((entry) => keyOf(entry) === key)
    const entry = latest.current[index]
    return entry === undefined ? '' : words.named(type.components[uidOf(attribute, entry)]?.displayName ?? '', index + 1)
  }
  const sortable = useSortable({
    ids: list.map((entry) => keyOf(entry)!),
    labelOf: nameOf,
    onMove: (key, to) => store.move(joinPath(path, key), to),
  })
  /** Moves the focus to the head of an entry once it is drawn, or to the first text in it. */
  const focusEntry = (entryPath: string, isNew = false) =>
    requestAnimationFrame(() => {
      const row = globalThis.document.getElementById(fieldId(document, entryPath))
      const text = isNew ? row?.querySelector<HTMLElement>(texts) : null
      ;(text ?? row?.querySelector<HTMLElement>('button[aria-expanded]'))?.focus({ preventScroll: isNew })
      if (isNew) row?.scrollIntoView({ block: 'center' })
    })
  const add = (entry: Entry, index: number, isNew = false) => {
    const made = joinPath(path, keyOf(entry)!)
    store.insert(path, entry, index)
    setAddingIndex(null)
    if (isNew) folding.set(made, true)
    focusEntry(made, isNew)
  }
  const setAdding = (index: number | null) => {
    const [only, ...others] = allowedIn(attribute)
    if (index === null || only === undefined || others.length > 0) setAddingIndex(index)
    else add(makeEntry(document, props, only), index, true)
  }
  const paste = (entries: readonly CopiedEntry[], index: number) => {
    const allowed = allowedIn(attribute)
    const fitting = entries.filter(({ component }) => allowed.includes(component))
    for (const [offset, { component, values }] of fitting.entries()) add(makeEntry(document, props, component, values), index + offset)
    if (fitting.length < entries.length) toasts.say(words.notAllowed(entries.length - fitting.length), { kind: 'wrong' })
    else announce(words.pasted(fitting.length))
  }
  const pasteFromClipboard = async () => {
    const text = await navigator.clipboard.readText().catch(() => null)
    const entries = text === null ? null : readEntries(text)
    if (entries === null) toasts.say(text === null ? words.noClipboard : words.nothingToPaste)
    else paste(entries, latest.current.length)
  }
  const remove = (key: string) => {
    const index = latest.current.findIndex((entry) => keyOf(entry) === key)
    const entry = latest.current[index]
    if (entry === undefined) return
    const name = nameOf(key)
    const neighbour = latest.current[index + 1] ?? latest.current[index - 1]
    store.remove(joinPath(path, key))
    if (neighbour !== undefined) focusEntry(joinPath(path, keyOf(neighbour)!))
    toasts.say(words.removed(name), { action: { label: words.undo, onPress: () => store.insert(path, entry, index) } })
  }
  const entryAt = (key: string) => latest.current.findIndex((entry) => keyOf(entry) === key)
  const copyOf = (entry: Entry) => makeEntry(document, props, uidOf(attribute, entry), entry)
  const all = { setAdding, setMoved, add, remove, entryAt, copyOf }
  const current = useRef(all)
  current.current = all
  const byKey = useCallback((key: string) => latest.current.find((entry) => keyOf(entry) === key), [])
  const [actions] = useState<EntryActions>(() => ({
    sortable,
    insert: (key, by) => current.current.setAdding(current.current.entryAt(key) + by),
    duplicate: (key) => {
      const entry = byKey(key)
      if (entry !== undefined) current.current.add(current.current.copyOf(entry), current.current.entryAt(key) + 1)
    },
    copy: async (key) => {
      const entry = byKey(key)
      if (entry === undefined) return
      const text = writeEntries([{ component: uidOf(attribute, entry), values: entry }])
      await navigator.clipboard.writeText(text).then(
        () => toasts.say(words.copied),
        () => toasts.say(words.noClipboard, { kind: 'wrong' }),
      )
    },
    moveTo: (key) => current.current.setMoved(key),
    remove: (key) => current.current.remove(key),
  }))
  return { actions, nameOf, adding, setAdding, moved, setMoved, paste, pasteFromClipboard, add }
}
