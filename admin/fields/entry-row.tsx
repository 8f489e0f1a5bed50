// One entry of a list or a zone: a head with its name and a line about it, and its fields while it is open.
import { Copy, CopyPlus, ListOrdered, MoreHorizontal, MoveDown, MoveUp, Plus, Trash2 } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, memo, useMemo, useRef } from 'react'
import { useErrorCount } from '../form/hooks.js'
import { lastPart } from '../form/paths.js'
import type { Entry } from '../form/values.js'
import { Disclosure } from '../parts/disclosure.js'
import { DragHandle } from '../parts/drag-handle.js'
import { IconButton } from '../parts/icon-button.js'
import { Menu, MenuItem, MenuLine } from '../parts/menu.js'
import type { Sortable } from '../parts/sortable.js'
import { useWords } from '../parts/words.js'
import { type DocumentFields, entrySection, fieldId, mayRemove, mayReplace, type Section } from './document.js'
import styles from './entries.module.css'
import { ErrorCount } from './error-count.js'
import { useIsOpen } from './folding.js'
import { useIsNear } from './near.js'
import { entrySummary } from './summaries.js'

/** Changes of a list by the key of an entry; the same object for all entries. */
export interface EntryActions {
  readonly sortable: Sortable
  /** Adds an entry before (0) or after (1) another one. */
  readonly insert: (key: string, by: 0 | 1) => void
  readonly duplicate: (key: string) => void
  readonly copy: (key: string) => Promise<void>
  readonly moveTo: (key: string) => void
  readonly remove: (key: string) => void
}

interface EntryRowProps {
  readonly entry: Entry
  readonly index: number
  readonly path: string
  readonly uid: string
  readonly names: string
  readonly document: DocumentFields
  readonly actions: EntryActions
  readonly isReadOnly: boolean
  readonly isZone: boolean
  readonly isAlone: boolean
  readonly hasRoom: boolean
  readonly Rows: ComponentType<{ readonly section: Section }>
}

/** One entry. Only its head is drawn while it is folded, and its buttons only near the visible part of the page. */
export const EntryRow = memo(function EntryRow(props: EntryRowProps) {
  const { entry, index, path, uid, names, document, actions, isReadOnly, isZone, Rows } = props
  const { store, type, folding } = document
  const words = useWords().fields.entries
  const row = useRef<HTMLLIElement>(null)
  const isNear = useIsNear(row)
  const isOpen = useIsOpen(folding, path)
  const errors = useErrorCount(store, path)
  const key = lastPart(path)
  const kind = type.components[uid]?.displayName ?? uid
  const name = words.named(kind, index + 1)
  const section = useMemo(() => entrySection(type, uid, path, isZone ? `${names}[${uid}]` : names), [type, uid, path, names, isZone])
  const { ref, onKeyDown } = actions.sortable.item(key)
  const keyDown = (event: KeyboardEvent<HTMLElement>) => {
    onKeyDown(event)
    const isDuplicate = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'd'
    if (!isDuplicate || event.defaultPrevented || isReadOnly || !props.hasRoom) return
    event.preventDefault()
    event.stopPropagation()
    actions.duplicate(key)
  }
  const isMovable = !isReadOnly && !props.isAlone
  return (
    <li
      id={fieldId(document, path)}
      className={styles.entry}
      onKeyDown={keyDown}
      ref={(element) => {
        row.current = element
        ref(element)
      }}
    >
      <Disclosure
        isOpen={isOpen}
        onChange={(open) => folding.set(path, open)}
        before={isMovable && isNear && <DragHandle {...actions.sortable.handle(key)} />}
        head={<EntryHead number={index + 1} kind={kind} summary={isOpen ? '' : entrySummary(type, uid, entry)} errors={errors} />}
        actions={
          isNear &&
          !isReadOnly && (
            <EntryMenu
              {...props}
              name={name}
              entryKey={key}
              isMovable={isMovable}
              isRemovable={section === null ? mayReplace(document.mayUpdate, names) : mayRemove(document, section, entry)}
            />
          )
        }
      >
        <div className={styles.body}>{section === null ? <p>{words.notVisible}</p> : <Rows section={section} />}</div>
      </Disclosure>
    </li>
  )
})

interface EntryHeadProps {
  /** Position in the list, from 1. */
  readonly number?: number
  readonly kind: string
  readonly summary: string
  readonly errors: number
}

/** The head of a folded entry: its component, a line about its content, and its errors. */
export const EntryHead = ({ number, kind, summary, errors }: EntryHeadProps) => (
  <span className={styles.head}>
    {number !== undefined && <span className={styles.number}>{number}</span>}
    <span className={styles.kind}>{kind}</span>
    <span className={styles.summary} dir="auto">
      {summary}
    </span>
    <ErrorCount count={errors} />
  </span>
)

interface EntryMenuProps extends Pick<EntryRowProps, 'actions' | 'hasRoom' | 'index'> {
  readonly name: string
  readonly entryKey: string
  readonly isMovable: boolean
  readonly isRemovable: boolean
}

const icon = { size: 16, 'aria-hidden': true } as const

function EntryMenu({ actions, hasRoom, index, name, entryKey, isMovable, isRemovable }: EntryMenuProps) {
  const words = useWords().fields.entries
  const { parts } = useWords()
  const { sortable } = actions
  return (
    <Menu
      label={words.actions(name)}
      trigger={
        <IconButton isSmall label={words.actions(name)}>
          <MoreHorizontal {...icon} />
        </IconButton>
      }
    >
      <MenuItem icon={<CopyPlus {...icon} />} isDisabled={!hasRoom} onPress={() => actions.duplicate(entryKey)}>
        {words.duplicate}
      </MenuItem>
      <MenuItem icon={<Copy {...icon} />} onPress={() => void actions.copy(entryKey)}>
        {words.copy}
      </MenuItem>
      <MenuItem icon={<Plus {...icon} />} isDisabled={!hasRoom} onPress={() => actions.insert(entryKey, 0)}>
        {words.insertBefore}
      </MenuItem>
      <MenuItem icon={<Plus {...icon} />} isDisabled={!hasRoom} onPress={() => actions.insert(entryKey, 1)}>
        {words.insertAfter}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={<MoveUp {...icon} />} isDisabled={!isMovable} onPress={() => sortable.moveTo(entryKey, index - 1)}>
        {parts.moveUp}
      </MenuItem>
      <MenuItem icon={<MoveDown {...icon} />} isDisabled={!isMovable} onPress={() => sortable.moveTo(entryKey, index + 1)}>
        {parts.moveDown}
      </MenuItem>
      <MenuItem icon={<ListOrdered {...icon} />} isDisabled={!isMovable} onPress={() => actions.moveTo(entryKey)}>
        {parts.moveTo}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={<Trash2 {...icon} />} isDanger isDisabled={!isRemovable} onPress={() => actions.remove(entryKey)}>
        {words.remove(name)}
      </MenuItem>
    </Menu>
  )
}
