// The menu of one's account: appearance, density, language, keys, sign-out.
import { Braces, ChevronsUpDown, Keyboard, LogOut } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.js'
import { CheckMenuItem, Menu, MenuChoices, MenuItem, MenuLine } from '../../parts/menu.js'
import { useToasts } from '../../parts/toasts.js'
import { useLanguage, useWords } from '../../parts/words.js'
import { signOut } from '../../server/session.js'
import { type Language, languages } from '../../words/catalog.js'
import { personName } from '../../words/format.js'
import { usePreference } from './preferences.js'
import styles from './shell.module.css'
import type { Start } from './type-names.js'

/** The name of an administrator, or the address. */
const nameOf = (me: Start['me']): string => personName(me) || me.email

const initialsOf = (name: string): string =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((part) => [...part][0]?.toUpperCase() ?? '')
    .join('')

/** The button with one's name, and its menu. */
export function AccountMenu({ start, onKeyList }: { readonly start: Start; readonly onKeyList: () => void }): ReactNode {
  const { shell } = useWords()
  const [theme, setTheme] = usePreference('theme')
  const [density, setDensity] = usePreference('density')
  const [letterKeys, setLetterKeys] = usePreference('letterKeys')
  const [language, setLanguage] = useLanguage()
  const toasts = useToasts()
  const name = nameOf(start.me)
  const leave = () => void signOut().catch(() => toasts.say(shell.signIn.errors.offline, { kind: 'wrong' }))
  return (
    <Menu
      label={shell.account}
      placement="top start"
      trigger={
        <Button kind="quiet">
          <span className={styles.account}>
            <span className={styles.initials} aria-hidden="true">
              {initialsOf(name)}
            </span>
            <span className={styles.person}>
              <span>{name}</span>
              <small>{start.me.roles.map((role) => role.name).join(', ')}</small>
            </span>
            <ChevronsUpDown size={14} aria-hidden="true" />
          </span>
        </Button>
      }
    >
      <Setting label={shell.theme} names={shell.themes} value={theme} onChange={setTheme} />
      <MenuLine />
      <Setting label={shell.density} names={shell.densities} value={density} onChange={setDensity} />
      <MenuLine />
      <Setting label={shell.language} names={languages} value={language} onChange={(code) => setLanguage(code as Language)} />
      <MenuLine />
      <CheckMenuItem isSelected={letterKeys === 'on'} onChange={(isOn) => setLetterKeys(isOn ? 'on' : 'off')}>
        {shell.letterKeys}
      </CheckMenuItem>
      <MenuItem icon={<Keyboard size={16} />} keys="?" onPress={onKeyList}>
        {shell.keys}
      </MenuItem>
      <MenuItem icon={<Braces size={16} />} href={`${start.settings.url}/`} target="_blank">
        {shell.website}
      </MenuItem>
      <MenuItem icon={<LogOut size={16} />} onPress={leave}>
        {shell.signOut}
      </MenuItem>
    </Menu>
  )
}

interface SettingProps {
  readonly label: string
  /** Names of the values. */
  readonly names: Readonly<Record<string, string>>
  readonly value: string
  readonly onChange: (value: string) => void
}

const Setting = ({ label, names, value, onChange }: SettingProps): ReactNode => (
  <MenuChoices
    label={label}
    isTitled
    isSingle
    choices={Object.entries(names).map(([name, text]) => ({ value: name, label: text }))}
    value={[value]}
    onChange={([next]) => next && onChange(next)}
  />
)
