// Which texts are drawings (SVG) and pages (HTML), and the size of a drawing, from its opening tag. Neither is ever rendered here.
import { readPrologue, readTag, type Tag, tagName } from './markup.js'

/** Sides beyond are no sizes: columns and programs hold no more. */
const longestSide = 2_147_483_647
const pageTags = new Set(['html', 'head', 'body', 'script', 'iframe'])

/** The type of a text that is a drawing or a page; null for others. */
export function markupType(text: string): 'image/svg+xml' | 'text/html' | null {
  const { parts, end } = readPrologue(text)
  const name = tagName(text, end)
  if (name === 'svg' && parts.every((part) => part === 'xml' || part === 'svg')) return 'image/svg+xml'
  const [first] = parts
  return first === 'html' || (first === undefined && pageTags.has(name)) ? 'text/html' : null
}

/** Width and height as the drawing states them; null where it does not. */
export function svgSize(head: Uint8Array): { readonly width: number; readonly height: number } | null {
  const text = new TextDecoder().decode(head)
  const tag = readTag(text, readPrologue(text).end)
  if (tag === null) return null
  const box = (tag.attributes.get('viewbox') ?? '')
    .slice(0, 100)
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  const width = stated(tag, 'width') || box[2]
  const height = stated(tag, 'height') || box[3]
  const isSide = (side: number | undefined): side is number => side !== undefined && side >= 0.5 && side <= longestSide
  return isSide(width) && isSide(height) ? { width: Math.round(width), height: Math.round(height) } : null
}

/** A length in pixels; NaN for one in another unit, and where nothing is said. */
const stated = ({ attributes }: Tag, name: string): number =>
  Number(/^([\d.]{1,10})(?:px)?$/i.exec((attributes.get(name) ?? '').slice(0, 100).trim())?.[1])
