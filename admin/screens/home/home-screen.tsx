// The home screen.
import type { ReactNode } from 'react'
import { useWords } from '../../parts/words.js'
import { useTitle } from '../shell/title.js'
import type { Start } from '../shell/type-names.js'

export default function HomeScreen({ start }: { readonly start: Start }): ReactNode {
  const { shell } = useWords()
  useTitle(shell.home)
  return <h1>{shell.startPage.title(start.me.firstname ?? '')}</h1>
}
