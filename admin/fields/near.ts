// Elements near the visible part of the page: buttons of long lists are drawn only there.
import { type RefObject, useEffect, useState } from 'react'

/** Distance from the visible part. */
const distance = '600px'

const waiting = new WeakMap<Element, () => void>()
let observer: IntersectionObserver | null = null

function observe(element: Element, onNear: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue
        waiting.get(target)?.()
        waiting.delete(target)
        observer?.unobserve(target)
      }
    },
    { rootMargin: distance },
  )
  const known = observer
  waiting.set(element, onNear)
  known.observe(element)
  return () => {
    waiting.delete(element)
    known.unobserve(element)
  }
}

/** True once the element has been near the visible part. */
export function useIsNear(element: RefObject<Element | null>): boolean {
  const [isNear, setIsNear] = useState(false)
  useEffect(() => (isNear || element.current === null ? undefined : observe(element.current, () => setIsNear(true))), [element, isNear])
  return isNear
}
