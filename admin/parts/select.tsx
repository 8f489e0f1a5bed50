// A choice of one among a few.
import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import shared from './choice-list.module.css'
import { classes } from './classes.js'
import type { FieldControl } from './field.js'
import styles from './select.module.css'
import { useWords } from './words.js'

/** One of the choices. */
export interface Choice<Value extends string = string> {
  readonly value: Value
  readonly label: string
  readonly description?: string
  readonly icon?: ReactNode
  readonly lang?: string
  readonly isDisabled?: boolean
}

/** A choice of one; spread a field's control on it, or give it `aria-label`. */
interface SelectProps<Value extends string> extends Partial<FieldControl> {
  readonly choices: readonly Choice<Value>[]
  readonly value: Value | null
  readonly onChange: (value: Value) => void
  readonly placeholder?: string
  readonly isDisabled?: boolean
  readonly isSmall?: boolean
  /** As wide as its text, without a border: for bars and heads. */
  readonly isQuiet?: boolean
  readonly 'aria-label'?: string
  readonly name?: string
}

/** A button with the chosen label that opens the list of choices. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { parts } = useWords()
  return (
    <AriaSelect
      className={classes(styles.select, props.isQuiet && styles.narrow)}
      aria-label={props['aria-label']}
      aria-labelledby={props['aria-labelledby']}
      aria-describedby={props['aria-describedby']}
      isInvalid={props['aria-invalid'] === true}
      isDisabled={props.isDisabled}
      name={props.name}
      value={props.value}
      onChange={(key) => key !== null && props.onChange(key as Value)}
      placeholder={props.placeholder ?? parts.choose}
    >
      <Button id={props.id} className={classes(styles.button, props.isSmall && styles.small, props.isQuiet && styles.quiet)}>
        <SelectValue className={styles.value} lang={props.lang}>
          {({ defaultChildren, isPlaceholder }) => {
            const chosen = isPlaceholder ? undefined : props.choices.find(({ value }) => value === props.value)
            if (chosen === undefined) return <span className={styles.placeholder}>{defaultChildren}</span>
            return (
              <>
                {chosen.icon}
                <span className={styles.text}>{chosen.label}</span>
              </>
            )
          }}
        </SelectValue>
        <ChevronDown size={16} className={styles.arrow} aria-hidden="true" />
      </Button>
      <Popover className={classes(shared.popover, styles.popover)} offset={4}>
        <ListBox className={classes(shared.list, styles.list)} items={props.choices.map((choice) => ({ ...choice, id: choice.value }))}>
          {(choice) => (
            <ListBoxItem
              id={choice.id}
              textValue={choice.label}
              className={classes(shared.item, styles.item)}
              isDisabled={choice.isDisabled}
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
    </AriaSelect>
  )
}
