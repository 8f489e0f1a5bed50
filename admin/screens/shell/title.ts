// The title of the browser's tab.
import { useEffect } from 'react'
import { useWords } from '../../parts/words.js'

/** Names the screen in the title of the tab. */
export function useTitle(title: string): void {
  const { shell } = useWords()
  useEffect(() => {
    document.title = shell.title(title)
  }, [title, shell])
}
