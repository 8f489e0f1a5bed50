// The main menu: home, the content-types in groups, and the account.
import { House, Search } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addresses } from '../../addresses.js'
import { hasCommandKey } from '../../parts/device.js'
import { TextInput } from '../../parts/text-input.js'
import { useFormat, useWords } from '../../parts/words.js'
import { AccountMenu } from './account-menu.js'
import { Logo } from './logo.js'
import styles from './shell.module.css'
import { groupTypes, listName, type Start } from './type-names.js'

/** More types than this have a field that filters them. */
const manyTypes = 18

interface MenuProps {
  readonly start: Start
  readonly onFind: () => void
  readonly onKeyList: () => void
}

/** The content of the menu. */
export function MainMenu({ start, onFind, onKeyList }: MenuProps): ReactNode {
  const { shell } = useWords()
  const { compare } = useFormat()
  const [text, setText] = useState('')
  const groups = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    const types = wanted === '' ? start.types : start.types.filter((type) => `${listName(type)} ${type.uid}`.toLowerCase().includes(wanted))
    return groupTypes(types, compare)
  }, [start.types, compare, text])
  return (
    <>
      <Link href={addresses.home()} className={styles.brand}>
        <Logo size={24} />
        Octavo
      </Link>
      <button type="button" className={styles.find} onClick={onFind}>
        <Search size={16} aria-hidden="true" />
        <span>{shell.find}</span>
        <kbd>{hasCommandKey ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <div className={styles.types}>
        <ul>
          <MenuLink href={addresses.home()} isExact icon={<House size={16} aria-hidden="true" />}>
            {shell.home}
          </MenuLink>
        </ul>
        {start.types.length > manyTypes && (
          <TextInput isSmall value={text} onChange={setText} aria-label={shell.content} type="search" placeholder={shell.content} />
        )}
        {groups.map(({ name, types }) => (
          <section key={name} aria-labelledby={`menu-${name}`}>
            <h2 id={`menu-${name}`} className={styles.group}>
              {shell[name]}
            </h2>
            <ul>
              {types.map((type) => (
                <MenuLink key={type.uid} href={addresses.list(type.uid)}>
                  {listName(type)}
                </MenuLink>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <AccountMenu start={start} onKeyList={onKeyList} />
    </>
  )
}

interface MenuLinkProps {
  readonly href: string
  readonly icon?: ReactNode
  readonly isExact?: boolean
  readonly children: string
}

function MenuLink({ href, icon, isExact = false, children }: MenuLinkProps): ReactNode {
  const [location] = useLocation()
  const isCurrent = location === href || (!isExact && location.startsWith(`${href}/`))
  return (
    <li>
      <Link href={href} className={styles.link} aria-current={isCurrent ? 'page' : undefined}>
        {icon}
        <span>{children}</span>
      </Link>
    </li>
  )
}
