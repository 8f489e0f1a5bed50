// A text field that suggests: one or many of items that come from the service as one types.
import { Check, ChevronDown, Search } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, type RefObject, use, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { ComboBox as AriaComboBox, ComboBoxStateContext } from 'react-aria-components/ComboBox'
import { Group } from 'react-aria-components/Group'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem, ListBoxLoadMoreItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import shared from './choice-list.module.css'
import { classes } from './classes.js'
import styles from './combo-box.module.css'
import type { FieldControl } from './field.js'
import { useWords } from './words.js'

/** One of the suggestions. */
export interface ComboBoxItem {
  readonly id: string
  readonly label: string
  readonly lang?: string
  readonly isDisabled?: boolean
}

/** A text field that suggests; spread a field's control on it, or give it `aria-label`. */
export interface ComboBoxProps<Item extends ComboBoxItem> extends Partial<FieldControl> {
  readonly items: readonly Item[]
  readonly query: string
  readonly onQuery: (text: string) => void
  /** Ids of the chosen items, which have a mark. */
  readonly selected?: readonly string[]
  /** An item was chosen, or with `isMultiple` perhaps taken back. */
  readonly onPick: (item: Item) => void
  /** Choosing keeps the list open and the text as it is. */
  readonly isMultiple?: boolean
  readonly isLoading?: boolean
  /** The items are those for the present text: Enter chooses the only one, and moves to the first of several. */
  readonly isCurrent?: boolean
  /** The end of the list came into view. */
  readonly onMore?: () => void
  readonly renderItem?: (item: Item) => ReactNode
  readonly placeholder?: string
  /** Shown when nothing was found. */
  readonly empty?: ReactNode
  /** Below the suggestions: an action such as "Create". */
  readonly footer?: (close: () => void) => ReactNode
  readonly onOpenChange?: (isOpen: boolean) => void
  readonly isDisabled?: boolean
  readonly isSmall?: boolean
  readonly autoFocus?: boolean
  readonly 'aria-label'?: string
}

const keepAll = () => true

/** The part of the screen where lists open: below a head that stays in view. Windows and phones have the whole page. */
const roomOf = (input: HTMLElement | null): Element | undefined =>
  (innerWidth > 640 ? input?.closest('main')?.querySelector('[data-room]') : null) ?? undefined

/** A text field that suggests items; filtering is up to the caller. */
export function ComboBox<Item extends ComboBoxItem>(props: ComboBoxProps<Item>) {
  const { parts } = useWords()
  const [input, foot] = [useRef<HTMLInputElement>(null), useRef<HTMLDivElement>(null)]
  const selected = props.selected ?? []
  const pick = (keys: readonly unknown[]) => {
    const changed = [...keys.filter((key) => !selected.includes(String(key))), ...selected.filter((key) => !keys.includes(key))]
    const item = props.items.find(({ id }) => changed.includes(id))
    if (item !== undefined) props.onPick(item)
  }
  const hasMoved = useRef(false)
  return (
    <AriaComboBox
      className={styles.combo}
      id={props.id}
      aria-label={props['aria-label']}
      aria-labelledby={props['aria-labelledby']}
      aria-describedby={props['aria-describedby']}
      isInvalid={props['aria-invalid'] === true}
      isDisabled={props.isDisabled}
      menuTrigger="focus"
      allowsEmptyCollection
      selectionMode="multiple"
      items={props.items}
      defaultFilter={keepAll}
      inputValue={props.query}
      onInputChange={(text) => {
        hasMoved.current = false
        props.onQuery(text)
      }}
      value={selected}
      onChange={(keys) => pick(keys)}
      onOpenChange={props.onOpenChange}
      // A search that was not finished would look like a value. A change of window leaves the focus in the field.
      onBlur={() => document.activeElement !== input.current && props.onQuery('')}
    >
      <Frame {...props} input={input} foot={foot} hasMoved={hasMoved} />
      <Popover className={classes(shared.popover, styles.popover)} offset={4} boundaryElement={roomOf(input.current)}>
        <ListBox<Item>
          className={classes(shared.list, styles.list)}
          renderEmptyState={() => (
            <div className={styles.empty}>{props.isLoading ? parts.loading : (props.empty ?? parts.nothingFound)}</div>
          )}
        >
          {props.items.map((item) => (
            <ListBoxItem
              key={item.id}
              id={item.id}
              textValue={item.label}
              className={classes(shared.item, styles.item)}
              isDisabled={item.isDisabled}
              lang={item.lang}
            >
              {({ isSelected }) => (
                <>
                  <span className={shared.words}>{props.renderItem?.(item) ?? item.label}</span>
                  {isSelected && <Check size={16} className={shared.check} aria-hidden="true" />}
                </>
              )}
            </ListBoxItem>
          ))}
          {props.onMore !== undefined && <ListBoxLoadMoreItem onLoadMore={props.onMore} isLoading={props.isLoading} />}
        </ListBox>
        {props.footer !== undefined && (
          <Foot input={input} foot={foot}>
            {props.footer}
          </Foot>
        )}
      </Popover>
    </AriaComboBox>
  )
}

interface FrameProps<Item extends ComboBoxItem> extends ComboBoxProps<Item> {
  readonly input: RefObject<HTMLInputElement | null>
  readonly foot: RefObject<HTMLDivElement | null>
  /** An arrow key has chosen the focused item, since the last change of the text. */
  readonly hasMoved: RefObject<boolean>
}

/** The text field with its keys. */
function Frame<Item extends ComboBoxItem>({ input, foot, hasMoved, ...props }: FrameProps<Item>) {
  const { parts } = useWords()
  const state = use(ComboBoxStateContext)
  const goToFoot = () => foot.current?.querySelector('button')?.focus()
  const chooseByEnter = () => {
    const [first, ...others] = props.items
    if (props.isCurrent !== true || props.query.trim() === '') return
    if (first === undefined) return goToFoot()
    if (others.length > 0) {
      hasMoved.current = true
      state?.selectionManager.setFocusedKey(first.id)
    } else if (first.isDisabled !== true && props.selected?.includes(first.id) !== true) {
      props.onPick(first)
      props.onQuery('')
    }
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { key } = event
    // React Aria would open the list again as long as there is a text.
    if (key === 'Escape') props.onQuery('')
    // All of the text, not all of the items.
    if (key === 'a' && (event.ctrlKey || event.metaKey)) event.stopPropagation()
    const isAtEnd = props.onMore === undefined && (props.items.at(-1)?.id ?? null) === state?.selectionManager.focusedKey
    if (key === 'ArrowDown' && isAtEnd && foot.current !== null) {
      event.preventDefault()
      event.stopPropagation()
      return goToFoot()
    }
    if (/^(Arrow|Page)(Up|Down)$/.test(key)) hasMoved.current = true
    if (key !== 'Enter' || event.target !== input.current || event.nativeEvent.isComposing) return
    // React Aria focuses a chosen item when the list opens, which Enter would take back.
    if (hasMoved.current && input.current.hasAttribute('aria-activedescendant')) return
    event.preventDefault()
    event.stopPropagation()
    chooseByEnter()
  }
  return (
    <Group className={classes(styles.frame, props.isSmall && styles.small)} onKeyDownCapture={onKeyDown}>
      <Search size={16} className={styles.icon} aria-hidden="true" />
      <Input
        ref={input}
        className={styles.input}
        placeholder={props.placeholder ?? parts.search}
        lang={props.lang}
        dir={props.dir}
        autoFocus={props.autoFocus}
        // Reopens a list closed by Escape or scrolling: the input already has the focus.
        onClick={() => state?.isOpen === false && state.open(null, 'focus')}
      />
      <Button className={styles.arrow}>
        <ChevronDown size={16} aria-hidden="true" />
      </Button>
    </Group>
  )
}

interface FootProps {
  readonly input: RefObject<HTMLInputElement | null>
  readonly foot: RefObject<HTMLDivElement | null>
  readonly children: (close: () => void) => ReactNode
}

/** An action below the suggestions, which it can close. */
function Foot({ input, foot, children }: FootProps) {
  const state = use(ComboBoxStateContext)
  const close = () => {
    input.current?.focus()
    state?.close()
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') close()
    if (key === 'ArrowUp') input.current?.focus()
  }
  return (
    <Group ref={foot} className={styles.foot} onKeyDown={onKeyDown}>
      {children(close)}
    </Group>
  )
}
