// The list of operations: grouped, searched as one types, and walked through with the arrow keys.
import type { ApiDescription, ShownOperation } from './description.js'
import { fill, h } from './elements.js'
import { methodMark } from './operation-view.js'

/** The address of an operation on this page. */
export const hrefOf = ({ id }: ShownOperation): string => `#${encodeURIComponent(id)}`

/** The operations whose names contain every word. */
function matching(operations: readonly ShownOperation[], words: readonly string[]): readonly ShownOperation[] {
  return operations.filter(({ method, path, summary, tags }) => {
    const text = `${method} ${path} ${summary} ${tags.join(' ')}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Shows the operations that fit a search; `current` is the id of the one that is shown. */
export function showNavigation(list: HTMLElement, { groups }: ApiDescription, search: string, current: string | null): void {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const shown = groups
    .map((group) => ({ ...group, operations: matching(group.operations, words) }))
    .filter(({ operations }) => operations.length > 0)
  const link = (operation: ShownOperation): HTMLElement =>
    h(
      'li',
      {},
      h(
        'a',
        { href: hrefOf(operation), 'aria-current': operation.id === current ? 'page' : undefined, title: operation.summary },
        methodMark(operation.method),
        ' ',
        // Long paths break before a slash.
        operation.path.split(/(?=\/)/).map((part) => [h('wbr', {}), part]),
      ),
    )
  const isOpen = (operations: readonly ShownOperation[]): boolean =>
    words.length > 0 || groups.length < 4 || operations.some(({ id }) => id === current)
  fill(
    list,
    shown.map(({ title, operations }) =>
      h(
        'details',
        { open: isOpen(operations) },
        h('summary', {}, title, ' ', h('small', {}, String(operations.length))),
        h('ul', {}, operations.map(link)),
      ),
    ),
    shown.length === 0 && h('p', { class: 'soft', role: 'status' }, words.length > 0 ? 'Nothing fits.' : 'There is nothing to show.'),
  )
}

/** Moves the focus among the links that are shown. */
export function moveFocus(list: HTMLElement, step: 1 | -1, from: Element | null, isSearching: boolean): void {
  // The results of a search are one list: its groups are all open.
  const places = isSearching ? 'details[open] a' : 'details[open] a, summary'
  const links = [...list.querySelectorAll<HTMLElement>(places)]
  const index = links.indexOf(from as HTMLElement)
  links[Math.max(0, Math.min(links.length - 1, index + step))]?.focus()
}
