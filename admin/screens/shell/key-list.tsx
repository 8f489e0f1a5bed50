// All keys of the page.
import type { ReactNode } from 'react'
import { hasCommandKey } from '../../parts/device.js'
import { Dialog } from '../../parts/dialog.js'
import { useWords } from '../../parts/words.js'
import styles from './key-list.module.css'

const mod = hasCommandKey ? '⌘' : 'Ctrl'

/** The list of keys. */
export default function KeyList({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { shell } = useWords()
  const { keyList } = shell
  const groups: readonly (readonly [string, readonly (readonly [string, ...string[]])[]])[] = [
    [
      keyList.anywhere,
      [
        [keyList.find, `${mod} K`],
        [keyList.help, '?'],
        [keyList.goHome, 'G'],
        [keyList.region, 'F6'],
        [keyList.close, 'Esc'],
      ],
    ],
    [
      keyList.inLists,
      [
        [keyList.move, '↓ ↑', 'J K'],
        [keyList.select, 'X'],
        [keyList.peek, '␣'],
        [keyList.open, 'Enter'],
        [keyList.search, '/'],
        [keyList.filter, 'F'],
        [keyList.create, 'N'],
      ],
    ],
    [
      keyList.inEditor,
      [
        [keyList.save, `${mod} S`],
        [keyList.publish, `${mod} Enter`],
        [keyList.undo, `${mod} Z`, `${mod} Shift Z`],
        [keyList.error, 'F8', 'Shift F8'],
        [keyList.moveItem, 'Alt ↑', 'Alt ↓'],
        [keyList.locale, `${mod} Shift L`],
        [keyList.preview, `${mod} Shift P`],
      ],
    ],
  ]
  return (
    <Dialog isOpen onClose={onClose} title={keyList.title} size="large">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the list is scrolled with keys on small screens */}
      <section className={styles.groups} tabIndex={0} aria-label={keyList.title}>
        {groups.map(([title, keys]) => (
          <section key={title}>
            <h3 className={styles.title}>{title}</h3>
            <dl className={styles.keys}>
              {keys.map(([text, ...choices]) => (
                <div key={text}>
                  <dt>{text}</dt>
                  <dd>
                    {choices.map((choice) => (
                      <span key={choice}>
                        {choice.split(' ').map((key) => (
                          <kbd key={key}>{key}</kbd>
                        ))}
                      </span>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </section>
    </Dialog>
  )
}
