// The list of a choice of one.
import { Check } from 'lucide-react'
import type { RefObject } from 'react'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import shared from './choice-list.module.css'
import { classes } from './classes.js'
import type { Choice } from './select.js'
import styles from './select.module.css'

interface SelectListProps {
  readonly button: RefObject<HTMLButtonElement | null>
  readonly choices: readonly Choice[]
  readonly value: string | null
  readonly isOpen: boolean
  /** Id of the element that names the choice. */
  readonly label: string | undefined
  readonly onChoose: (value: string) => void
  readonly onClose: () => void
}

/** The choices below their button; Escape gives the focus back to it. */
export default function SelectList({ button, choices, value, isOpen, label, onChoose, onClose }: SelectListProps) {
  return (
    <Popover
      trigger="Select"
      triggerRef={button}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      className={classes(shared.popover, styles.popover)}
      placement="bottom start"
      offset={4}
      aria-labelledby={label}
    >
      <ListBox
        autoFocus="first"
        selectionMode="single"
        selectedKeys={value === null ? [] : [value]}
        shouldFocusOnHover
        shouldSelectOnPressUp
        aria-labelledby={label}
        className={classes(shared.list, styles.list)}
        items={choices.map((choice) => ({ ...choice, id: choice.value }))}
        onSelectionChange={(keys) => {
          // The chosen one again: none is left.
          for (const key of keys) onChoose(String(key))
          onClose()
        }}
      >
        {(choice) => (
          <ListBoxItem
            id={choice.id}
            textValue={choice.label}
            className={classes(shared.item, styles.item)}
            isDisabled={choice.isDisabled ?? false}
          >
            {({ isSelected }) => (
              <>
                {choice.icon}
                <span className={shared.words} lang={choice.lang}>
                  {choice.label}
                  {choice.description !== undefined && <span className={shared.description}>{choice.description}</span>}
                </span>
                {isSelected && <Check size={16} className={shared.check} aria-hidden="true" />}
              </>
            )}
          </ListBoxItem>
        )}
      </ListBox>
    </Popover>
  )
}
