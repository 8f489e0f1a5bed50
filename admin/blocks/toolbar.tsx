// The toolbar of rich text: kind of block, flags, lists, link, image.
import { Bold, Code, Image, Italic, Link, List, ListOrdered, Strikethrough, Underline } from 'lucide-react'
import { memo } from 'react'
import { hasCommandKey } from '../parts/device.js'
import { IconButton } from '../parts/icon-button.js'
import shared from '../parts/rich-text.module.css'
import { Select } from '../parts/select.js'
import { useToolbar } from '../parts/toolbar.js'
import { useWords } from '../parts/words.js'
import { type ListFormat, type TextKind, textKinds } from './commands.js'
import styles from './editor.module.css'
import { keysOf } from './keys.js'
import { type Flag, flags } from './schema.js'

/** State of the text that the toolbar shows; compared member by member. */
export interface ToolbarState {
  readonly kind: TextKind | ListFormat | 'other'
  /** Language of code; empty: none. */
  readonly language: string
  /** Names of the set flags, separated by spaces. */
  readonly flags: string
  readonly isLink: boolean
  readonly canLink: boolean
}

/** Actions of the toolbar. */
export interface ToolbarActions {
  readonly setKind: (kind: TextKind) => void
  readonly setLanguage: (language: string) => void
  readonly toggleFlag: (flag: Flag) => void
  readonly toggleList: (format: ListFormat) => void
  readonly openLink: () => void
  /** Moves the focus into the text. */
  readonly focusText: () => void
  /** Undefined: images cannot be chosen here. */
  readonly chooseImage: (() => void) | undefined
}

const icons = { bold: Bold, italic: Italic, underline: Underline, strikethrough: Strikethrough, code: Code } as const

/** Languages of code that are offered; a stored one is, too. */
const codeLanguages = [
  ...['bash', 'c', 'cpp', 'csharp', 'css', 'diff', 'go', 'html', 'java', 'javascript', 'json', 'kotlin', 'markdown', 'php'],
  ...['plaintext', 'python', 'ruby', 'rust', 'sql', 'swift', 'typescript', 'xml', 'yaml'],
] as const

/** Keys as people read them. */
const shownKeys = (keys: string): string =>
  keys
    .split('-')
    .map((key) =>
      key === 'Mod' ? (hasCommandKey ? '⌘' : 'Ctrl') : key === 'Alt' && hasCommandKey ? '⌥' : key.length === 1 ? key.toUpperCase() : key,
    )
    .join('+')

interface ToolbarProps {
  readonly state: ToolbarState
  readonly actions: ToolbarActions
  /** Element of the text. */
  readonly controls: string
}

/** The toolbar of rich text. */
export const Toolbar = memo(function Toolbar({ state, actions, controls }: ToolbarProps) {
  const words = useWords().fields.blocks
  // Menus are separate tab stops.
  const menus = state.kind === 'codeBlock' ? 2 : 1
  const { bar, buttonAt } = useToolbar(menus)
  const set = state.flags.split(' ')
  const kinds = textKinds.map((kind) => ({ value: kind, label: words.kinds[kind] }))
  const listKind = state.kind === 'ordered' || state.kind === 'unordered'
  return (
    <div {...bar} role="toolbar" aria-label={words.toolbar} aria-controls={controls} className={shared.tools}>
      <Select
        aria-label={words.kind}
        isSmall
        isQuiet
        choices={kinds}
        value={textKinds.find((kind) => kind === state.kind) ?? null}
        placeholder={listKind ? words.kinds[state.kind as ListFormat] : words.kinds.other}
        onChange={actions.setKind}
        onChosen={actions.focusText}
      />
      {state.kind === 'codeBlock' && (
        <Select
          aria-label={words.codeLanguage}
          isSmall
          isQuiet
          choices={[...new Set([...codeLanguages, ...(state.language === '' ? [] : [state.language])])].map((value) => ({
            value,
            label: value,
          }))}
          value={state.language === '' ? null : state.language}
          placeholder={words.codeLanguage}
          onChange={actions.setLanguage}
          onChosen={actions.focusText}
        />
      )}
      <span className={styles.line} />
      {flags.map((flag, index) => {
        const Icon = icons[flag]
        return (
          <IconButton
            key={flag}
            isSmall
            label={words.flags[flag]}
            keys={shownKeys(keysOf[flag])}
            isOn={set.includes(flag)}
            {...buttonAt(menus + index)}
            onPress={() => actions.toggleFlag(flag)}
          >
            <Icon size={16} aria-hidden="true" />
          </IconButton>
        )
      })}
      <IconButton
        isSmall
        label={words.link}
        keys={shownKeys(keysOf.link)}
        isOn={state.isLink}
        isDisabled={!state.canLink}
        {...buttonAt(menus + 5)}
        onPress={actions.openLink}
      >
        <Link size={16} aria-hidden="true" />
      </IconButton>
      <span className={styles.line} />
      {(['unordered', 'ordered'] as const).map((format, index) => (
        <IconButton
          key={format}
          isSmall
          label={words.kinds[format]}
          keys={shownKeys(keysOf[format])}
          isOn={state.kind === format}
          {...buttonAt(menus + index + 6)}
          onPress={() => actions.toggleList(format)}
        >
          {format === 'ordered' ? <ListOrdered size={16} aria-hidden="true" /> : <List size={16} aria-hidden="true" />}
        </IconButton>
      ))}
      {actions.chooseImage !== undefined && (
        <IconButton isSmall label={words.imageInsert} {...buttonAt(menus + 8)} onPress={actions.chooseImage}>
          <Image size={16} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  )
}, isSame)

function isSame(left: ToolbarProps, right: ToolbarProps): boolean {
  const names = Object.keys(left.state) as (keyof ToolbarState)[]
  return left.actions === right.actions && left.controls === right.controls && names.every((name) => left.state[name] === right.state[name])
}
