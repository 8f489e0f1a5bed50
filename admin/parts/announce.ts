// The polite live region of the page.

let region: HTMLElement | null = null
let pending: ReturnType<typeof setTimeout> | undefined

/** Removes a text from the region, so that reading on does not meet it. */
const clearAfter = 7000

function regionOf(): HTMLElement {
  if (region?.isConnected) return region
  region = document.createElement('div')
  region.setAttribute('role', 'status')
  region.setAttribute('aria-live', 'polite')
  // React Aria leaves elements with this attribute readable while a dialog is open.
  region.dataset.liveAnnouncer = 'true'
  Object.assign(region.style, {
    position: 'fixed',
    inlineSize: '1px',
    blockSize: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
    whiteSpace: 'nowrap',
  })
  document.body.append(region)
  return region
}

/** Has screen readers say a text when they are free; the same text twice is said twice. */
export function announce(text: string): void {
  const there = regionOf()
  clearTimeout(pending)
  there.textContent = there.textContent === text ? `${text}\u00a0` : text
  pending = setTimeout(() => {
    there.textContent = ''
  }, clearAfter)
}
