// `connectPreview`: connects a previewed page of a website with the editor at /admin. One function without imports, so that a page can
// also contain its text.

/** Options of `connectPreview`. */
export interface PreviewOptions {
  /** The origin of the service, such as `https://content.example.org`. Pages of others are neither told anything nor listened to. */
  readonly origin: string
  /** Called after a save. Default: the page is loaded again. */
  readonly onUpdate?: () => void
}

interface PageNode {
  readonly nodeType: number
  readonly nodeValue: string | null
}

interface PageElement extends PageNode {
  readonly parentElement: PageElement | null
  readonly style: { outline: string; cursor: string }
  closest(selector: string): PageElement | null
  contains(node: PageNode): boolean
  getAttribute(name: string): string | null
  querySelectorAll(selector: string): Iterable<PageElement>
}

interface PageEvent {
  readonly target: PageElement
  readonly clientX: number
  readonly clientY: number
  readonly altKey: boolean
  preventDefault(): void
  stopPropagation(): void
}

interface PageMessage {
  readonly source: unknown
  readonly origin: string
  readonly data: unknown
}

/** The parts of a browser that the function uses: the client is also compiled without the types of browsers. */
interface Page {
  readonly self: unknown
  readonly parent: { postMessage(message: unknown, origin: string): void }
  readonly location: { reload(): void }
  readonly document: {
    addEventListener(name: string, listener: (event: PageEvent) => void, isEarly: boolean): void
    removeEventListener(name: string, listener: (event: PageEvent) => void, isEarly: boolean): void
    caretPositionFromPoint?(x: number, y: number): { readonly offsetNode: PageNode } | null
    caretRangeFromPoint?(x: number, y: number): { readonly startContainer: PageNode } | null
    createTreeWalker(root: PageElement, shown: number): { nextNode(): PageNode | null }
  }
  addEventListener(name: 'message', listener: (event: PageMessage) => void): void
  removeEventListener(name: 'message', listener: (event: PageMessage) => void): void
}

/**
 * Connects a page with the editor that shows it in a frame: a click on a text with a source map, or on an element with the attribute
 * `data-octavo-source`, goes to its field, and the page is updated after a save. Links and controls keep their own clicks; with Alt they go to
 * the field. Outside of a frame, nothing happens.
 * @returns a function that ends the connection
 */
export function connectPreview({ origin, onUpdate }: PreviewOptions): () => void {
  const page = globalThis as unknown as Page & { octavoPreview?: boolean }
  const { document, parent } = page
  if (parent === page.self || page.octavoPreview === true) return () => {}
  page.octavoPreview = true
  const signs = '\u200b\u200c\u200d\ufeff'
  const maxTexts = 2000

  const sourceIn = (text: string): string | null => {
    const [, hidden = ''] = /\u200b{4}([\u200b-\u200d\ufeff]{4,8000})/.exec(text) ?? []
    if (hidden === '') return null
    const bytes = Uint8Array.from({ length: Math.floor(hidden.length / 4) }, (_, at) =>
      [0, 1, 2, 3].reduce((sum, next) => sum * 4 + signs.indexOf(hidden.charAt(at * 4 + next)), 0),
    )
    try {
      // Another mark may follow at once.
      const [first = ''] = new TextDecoder().decode(bytes).split('\0')
      const { strapiSource } = JSON.parse(first) as { readonly strapiSource?: unknown }
      return typeof strapiSource === 'string' ? strapiSource : null
    } catch {
      return null
    }
  }

  /** The different sources of the texts in an element, at most two. */
  const sourcesIn = (element: PageElement): ReadonlySet<string> => {
    const found = new Set<string>()
    const add = (text: string | null) => {
      const source = text === null ? null : sourceIn(text)
      if (source !== null) found.add(source)
    }
    add(element.getAttribute('alt'))
    for (const picture of element.querySelectorAll('img[alt]')) add(picture.getAttribute('alt'))
    const walker = document.createTreeWalker(element, 4)
    for (let count = 0, node = walker.nextNode(); node !== null && found.size < 2 && count < maxTexts; node = walker.nextNode(), count++)
      add(node.nodeValue)
    return found
  }

  const find = ({ target, clientX, clientY }: PageEvent): { readonly element: PageElement; readonly source: string } | null => {
    if (typeof target?.closest !== 'function') return null
    const named = target.closest('[data-octavo-source]')
    if (named !== null) return { element: named, source: named.getAttribute('data-octavo-source') ?? '' }
    const node =
      document.caretPositionFromPoint?.(clientX, clientY)?.offsetNode ?? document.caretRangeFromPoint?.(clientX, clientY)?.startContainer
    const under = node?.nodeType === 3 && target.contains(node) ? sourceIn(node.nodeValue ?? '') : null
    if (under !== null) return { element: target, source: under }
    // Up to the body, which has the texts of everything.
    for (let element = target; element.parentElement?.parentElement; element = element.parentElement) {
      const [source, other] = sourcesIn(element)
      if (other !== undefined) return null
      if (source !== undefined) return { element, source }
    }
    return null
  }

  let shown: PageElement | null = null
  let before = ['', '']
  const show = (element: PageElement | null): void => {
    if (shown === element) return
    if (shown !== null) [shown.style.outline, shown.style.cursor] = before as [string, string]
    shown = element
    if (element === null) return
    before = [element.style.outline, element.style.cursor]
    element.style.outline = '2px solid #0f62c4'
    element.style.cursor = 'pointer'
  }
  const hover = (event: PageEvent): void => show(find(event)?.element ?? null)
  const press = (event: PageEvent): void => {
    const found = find(event)
    if (found === null || (!event.altKey && event.target.closest('a[href], button, input, select, textarea, label, summary') !== null))
      return
    event.preventDefault()
    event.stopPropagation()
    parent.postMessage({ type: 'octavoField', source: found.source }, origin)
  }
  const listen = ({ source, origin: sender, data }: PageMessage): void => {
    if (source !== parent || sender !== origin || (data as { readonly type?: unknown } | null)?.type !== 'strapiUpdate') return
    if (onUpdate === undefined) page.location.reload()
    else onUpdate()
  }
  document.addEventListener('pointerover', hover, true)
  document.addEventListener('click', press, true)
  page.addEventListener('message', listen)
  parent.postMessage({ type: 'previewReady', octavo: true }, origin)
  return () => {
    show(null)
    document.removeEventListener('pointerover', hover, true)
    document.removeEventListener('click', press, true)
    page.removeEventListener('message', listen)
    page.octavoPreview = false
  }
}
