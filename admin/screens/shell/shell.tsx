// The frame of every screen: menu, skip link, palette, keys, and dialogs about the session.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Menu as MenuIcon, Search, X } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { addresses } from '../../addresses.js'
import { useMedia } from '../../parts/device.js'
import { ErrorState } from '../../parts/error-state.js'
import { Hidden } from '../../parts/hidden.js'
import { IconButton } from '../../parts/icon-button.js'
import { useWords } from '../../parts/words.js'
import { startQuery } from '../../server/queries.js'
import { followStale } from '../../server/stale.js'
import { focusRegion, useKeys } from './keys.js'
import { Logo } from './logo.js'
import { MainMenu } from './menu.js'
import { NativeDialog } from './native-dialog.js'
import { OfflineBar } from './offline-bar.js'
import { Routes } from './routes.js'
import styles from './shell.module.css'
import type { Start } from './type-names.js'

const loadPalette = () => import('./palette.js')
const Palette = lazy(loadPalette)
const KeyList = lazy(() => import('./key-list.js'))

/** After the screen has asked for its own files. */
const preloadMs = 1_000

/** The page of a signed-in administrator. */
export function Shell(): ReactNode {
  const { data, error, refetch } = useQuery(startQuery())
  if (error !== null && data === undefined)
    return (
      <main className={styles.alone}>
        <h1>
          <Hidden>Octavo</Hidden>
        </h1>
        <ErrorState onRetry={() => void refetch()} />
      </main>
    )
  return data === undefined ? <main className={styles.alone} aria-busy="true" /> : <Frame start={data.data} />
}

type Window = 'palette' | 'keys' | 'drawer' | null

function Frame({ start }: { readonly start: Start }): ReactNode {
  const { shell } = useWords()
  const isPhone = useMedia('(max-width: 640px)')
  const [window, open] = useState<Window>(null)
  const [location, navigate] = useLocation()
  const content = useScreenFocus(location)
  const queries = useQueryClient()
  useEffect(() => followStale(queries), [queries])
  useEffect(() => {
    // Otherwise the first characters typed into it would be lost while it loads.
    const timer = setTimeout(() => void loadPalette().catch(() => {}), preloadMs)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    // The drawer and the palette lead to another address.
    if (location !== '') open(null)
  }, [location])
  const keys = useMemo(
    () => ({
      'mod+k': () => open('palette'),
      '?': () => open('keys'),
      g: () => navigate(addresses.home()),
      F6: () => focusRegion(1),
      'shift+F6': () => focusRegion(-1),
    }),
    [navigate],
  )
  useKeys(keys)
  const menu = <MainMenu start={start} onFind={() => open('palette')} onKeyList={() => open('keys')} />
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        {shell.skip}
      </a>
      {isPhone ? (
        <header className={styles.bar}>
          <IconButton label={shell.openMenu} onPress={() => open('drawer')}>
            <MenuIcon />
          </IconButton>
          <span className={styles.brand}>
            <Logo size={24} />
            Octavo
          </span>
          <IconButton label={shell.find} onPress={() => open('palette')}>
            <Search />
          </IconButton>
        </header>
      ) : (
        <nav className={styles.menu} aria-label={shell.navigation} data-region="menu">
          {menu}
        </nav>
      )}
      <div className={styles.side}>
        <OfflineBar />
        <main id="content" ref={content} className={styles.content} tabIndex={-1} data-region="content">
          <Routes start={start} />
        </main>
      </div>
      {window === 'drawer' && isPhone && (
        <NativeDialog label={shell.navigation} className={styles.drawer} onClose={() => open(null)}>
          <nav className={styles.menu} aria-label={shell.navigation}>
            <span className={styles.close}>
              <IconButton label={shell.closeMenu} onPress={() => open(null)}>
                <X />
              </IconButton>
            </span>
            {menu}
          </nav>
        </NativeDialog>
      )}
      <Suspense>
        {window === 'palette' && <Palette start={start} onClose={() => open(null)} onKeyList={() => open('keys')} />}
        {window === 'keys' && <KeyList onClose={() => open(null)} />}
      </Suspense>
    </div>
  )
}

/** Moves the focus to the content when the screen changes, unless the focus is there. */
function useScreenFocus(location: string) {
  const content = useRef<HTMLElement>(null)
  const shown = useRef(location)
  useEffect(() => {
    if (shown.current === location) return
    shown.current = location
    if (!content.current?.contains(document.activeElement)) content.current?.focus({ preventScroll: true })
  }, [location])
  return content
}
