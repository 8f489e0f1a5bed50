// Drawn nodes without text: images, and nodes that the editor does not know.
import type { Node } from 'prosemirror-model'
import type { NodeView, NodeViewConstructor } from 'prosemirror-view'
import { kindOf, type Members } from './schema.js'

/** Texts of the drawn nodes. */
export interface ViewTexts {
  readonly unknown: (kind: string) => string
  readonly missingAlternative: string
}

/** Class names of the drawn nodes. */
export interface ViewClasses {
  readonly image: string | undefined
  readonly warning: string | undefined
  readonly odd: string | undefined
}

const element = (tag: string, className: string | undefined, text?: string): HTMLElement => {
  const made = document.createElement(tag)
  if (className !== undefined) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

/** A version of an image that suffices for the width of the text. */
function sourceOf(image: Members): string {
  const formats = (image.formats ?? {}) as Readonly<Record<string, { readonly url?: unknown } | undefined>>
  const url = formats.medium?.url ?? formats.small?.url ?? image.url
  return typeof url === 'string' ? url : ''
}

function imageView(node: Node, texts: ViewTexts, classes: ViewClasses): NodeView {
  const image = (node.attrs.image ?? {}) as Members
  const dom = element('figure', classes.image)
  const picture = document.createElement('img')
  picture.src = sourceOf(image)
  picture.alt = typeof image.alternativeText === 'string' ? image.alternativeText : ''
  picture.draggable = false
  if (typeof image.width === 'number' && typeof image.height === 'number') {
    picture.width = image.width
    picture.height = image.height
  }
  dom.append(picture)
  if (picture.alt === '') dom.append(element('span', classes.warning, texts.missingAlternative))
  if (typeof image.caption === 'string' && image.caption !== '') dom.append(element('figcaption', undefined, image.caption))
  return { dom }
}

/** Constructors of the views of nodes. */
export function nodeViews(texts: ViewTexts, classes: ViewClasses): Readonly<Record<string, NodeViewConstructor>> {
  const odd =
    (tag: string): NodeViewConstructor =>
    (node) => ({ dom: element(tag, classes.odd, texts.unknown(kindOf(node.attrs.value))) })
  return { image: (node) => imageView(node, texts, classes), odd: odd('div'), oddInline: odd('span') }
}
