// Menus of actions, links and choices, opened by a button.
import { Check } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  MenuSection as AriaMenuSection,
  Header,
  MenuTrigger,
  Separator,
} from 'react-aria-components/Menu'
import { type Placement, Popover } from 'react-aria-components/Popover'
import shared from './choice-list.module.css'
import { classes } from './classes.js'
import styles from './menu.module.css'

/** A menu and the button that opens it. */
export interface MenuProps {
  /** A Button or IconButton. */
  readonly trigger: ReactElement
  readonly label: string
  readonly placement?: Placement
  readonly onOpenChange?: (isOpen: boolean) => void
  readonly children: ReactNode
}

/** A menu and the button that opens it. */
export function Menu({ trigger, label, placement = 'bottom end', onOpenChange, children }: MenuProps) {
  return (
    <MenuTrigger onOpenChange={onOpenChange}>
      {trigger}
      <Popover className={classes(shared.popover, styles.popover)} placement={placement} offset={4}>
        <AriaMenu className={classes(shared.list, styles.menu)} aria-label={label}>
          {children}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}

/** An action of a menu, or with `href` a link. */
interface MenuItemProps {
  readonly id?: string
  readonly onPress?: () => void
  readonly href?: string
  readonly target?: string
  readonly icon?: ReactNode
  /** Keys that do the same. */
  readonly keys?: string
  readonly description?: string
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly lang?: string
  /** The text for first letters, where `children` is more than a text. */
  readonly text?: string
  readonly children: ReactNode
}

const textOf = (children: ReactNode, text?: string) => text ?? (typeof children === 'string' ? children : undefined)

/** An action of a menu, or with `href` a link. */
export function MenuItem({ onPress, icon, keys, description, isDanger, text, children, lang, ...rest }: MenuItemProps) {
  return (
    <AriaMenuItem
      {...rest}
      onAction={onPress}
      textValue={textOf(children, text)}
      className={classes(shared.item, styles.item, isDanger && styles.danger)}
    >
      {icon !== undefined && <span className={styles.icon}>{icon}</span>}
      <span className={shared.words} lang={lang}>
        {children}
        {description !== undefined && <span className={shared.description}>{description}</span>}
      </span>
      {keys !== undefined && <kbd className={styles.keys}>{keys}</kbd>}
    </AriaMenuItem>
  )
}

/** A line between the parts of a menu. */
export const MenuLine = () => <Separator className={styles.line} />

/** A setting in a menu; the menu stays open. */
interface CheckMenuItemProps {
  readonly isSelected: boolean
  readonly onChange: (isSelected: boolean) => void
  readonly icon?: ReactNode
  readonly isDisabled?: boolean
  readonly children: string
}

/** A setting in a menu; the menu stays open. */
export function CheckMenuItem({ isSelected, onChange, children, ...rest }: CheckMenuItemProps) {
  return (
    <MenuChoices
      label={children}
      choices={[{ value: 'on', label: children, ...rest }]}
      value={isSelected ? ['on'] : []}
      onChange={(value) => onChange(value.length > 0)}
    />
  )
}

interface MenuChoice {
  readonly value: string
  readonly label: string
  readonly icon?: ReactNode
  readonly description?: string
  readonly isDisabled?: boolean
}

/** Choices in a menu, one or many of them. */
interface MenuChoicesProps {
  readonly label: string
  /** The label is shown above the choices. */
  readonly isTitled?: boolean
  /** One choice closes the menu; many keep it open. */
  readonly isSingle?: boolean
  readonly choices: readonly MenuChoice[]
  readonly value: readonly string[]
  readonly onChange: (value: string[]) => void
}

/** Choices in a menu, one or many of them. */
export function MenuChoices({ label, isTitled, isSingle, choices, value, onChange }: MenuChoicesProps) {
  return (
    <AriaMenuSection
      className={styles.section}
      aria-label={isTitled ? undefined : label}
      selectionMode={isSingle ? 'single' : 'multiple'}
      disallowEmptySelection={isSingle}
      shouldCloseOnSelect={isSingle}
      selectedKeys={value}
      onSelectionChange={(keys) => onChange(keys === 'all' ? choices.map((choice) => choice.value) : [...keys].map(String))}
    >
      {isTitled && <Header className={styles.title}>{label}</Header>}
      {choices.map((choice) => (
        <AriaMenuItem
          key={choice.value}
          id={choice.value}
          textValue={choice.label}
          isDisabled={choice.isDisabled}
          className={classes(shared.item, styles.item)}
        >
          {({ isSelected }) => (
            <>
              <span className={styles.icon}>{isSelected && <Check size={16} aria-hidden="true" />}</span>
              {choice.icon}
              <span className={shared.words}>
                {choice.label}
                {choice.description !== undefined && <span className={shared.description}>{choice.description}</span>}
              </span>
            </>
          )}
        </AriaMenuItem>
      ))}
    </AriaMenuSection>
  )
}
