// The reader's device: its keyboard and its screen.
import { useCallback, useSyncExternalStore } from 'react'

/** True on Apple's computers, whose keyboards have Cmd. */
export const hasCommandKey = /Mac|iP(?:hone|ad)/.test(navigator.platform)

/** True while a media query matches, such as `(max-width: 640px)`. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}
