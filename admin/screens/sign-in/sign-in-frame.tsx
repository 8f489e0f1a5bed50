// The frame of forms without a session: a card with the name of the service, and the choice of language below.
import { type ReactNode, useEffect } from 'react'
import { Button } from '../../parts/button.js'
import { useLanguage, useWords } from '../../parts/words.js'
import { type Language, languages } from '../../words/catalog.js'
import { Logo } from '../shell/logo.js'
import styles from './sign-in.module.css'

interface FrameProps {
  readonly title?: string
  readonly text?: ReactNode
  readonly children?: ReactNode
}

/** A card in the middle of the page. */
export function SignInFrame({ title, text, children }: FrameProps): ReactNode {
  const { shell } = useWords()
  const [language, setLanguage] = useLanguage()
  useEffect(() => {
    if (title !== undefined) document.title = shell.title(title)
  }, [title, shell])
  return (
    <div className={styles.page}>
      <main className={styles.card}>
        <p className={styles.service}>
          <Logo size={28} />
          <span className={styles.name}>Octavo</span>
          <span className={styles.host}>{location.host}</span>
        </p>
        {title !== undefined && <h1 className={styles.title}>{title}</h1>}
        {text !== undefined && <p className={styles.text}>{text}</p>}
        {children}
      </main>
      <nav className={styles.languages} aria-label={shell.language}>
        {(Object.keys(languages) as Language[]).map((code) => (
          <Button key={code} kind="quiet" isSmall aria-pressed={code === language} onPress={() => setLanguage(code)}>
            <span lang={code}>{languages[code]}</span>
          </Button>
        ))}
      </nav>
    </div>
  )
}
