// A bar while the service cannot be reached.
import { WifiOff } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { announce } from '../../parts/announce.js'
import { useWords } from '../../parts/words.js'
import { useOnline } from './session.js'
import styles from './shell.module.css'

/** The bar; the way back is announced. */
export function OfflineBar(): ReactNode {
  const { shell } = useWords()
  const isOnline = useOnline()
  const wasOffline = useRef(false)
  useEffect(() => {
    if (!isOnline) wasOffline.current = true
    else if (wasOffline.current) announce(shell.online)
  }, [isOnline, shell])
  return (
    <div role="status" className={isOnline ? undefined : styles.offline}>
      {!isOnline && (
        <>
          <WifiOff size={16} aria-hidden="true" />
          {shell.offline}
        </>
      )}
    </div>
  )
}
