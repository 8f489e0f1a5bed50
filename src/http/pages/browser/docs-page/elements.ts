// Builds elements. Text only ever becomes text nodes, so nothing of a description or a response can become markup.

type Child = Node | string | null | undefined | false | readonly Child[]
type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>

/** Creates an element. Functions are listeners, true is an empty attribute, false and undefined are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value))
  }
  append(element, children)
  return element
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child)
    else if (child !== null && child !== undefined && child !== false) element.append(child as Node | string)
  }
}

/** Replaces what an element contains. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren()
  append(element, children)
}

/** An element of the page by its id. */
export const byId = (id: string): HTMLElement => document.getElementById(id)!

/** Text with parts in backticks as code. */
export const prose = (text: string): Node[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? h('code', {}, part) : document.createTextNode(part)))
