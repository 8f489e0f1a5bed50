// Detects SVG and HTML, and reads the size of an SVG from its opening tag. Neither is rendered.
import { readPrologue, readTag, type Tag, tagName } from './markup.js'

/** The longest valid side; columns and programs do not support more. */
const longestSide = 2_147_483_647
const pageTags = new Set(['html', 'head', 'body', 'script', 'iframe'])

/** Returns the type of an SVG or HTML text; otherwise null. */
export function markupType(text: string): 'image/svg+xml' | 'text/html' | null {
  const { parts, end } = readPrologue(text)
  const name = tagName(text, end)
  if (name === 'svg' && parts.every((part) => part === 'xml' || part === 'svg')) return 'image/svg+xml'
  const [first] = parts
  return first === 'html' || (first === undefined && pageTags.has(name)) ? 'text/html' : null
}

/** Returns the width and height that an SVG declares, or null. */
export function svgSize(head: Uint8Array): { readonly width: number; readonly height: number } | null {
  const text = new TextDecoder().decode(head)
  const tag = readTag(text, readPrologue(text).end)
  if (tag === null) return null
  const box = (tag.attributes.get('viewbox') ?? '')
    .slice(0, 100)
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  const width = lengthOf(tag, 'width') || box[2]
  const height = lengthOf(tag, 'height') || box[3]
  const isSide = (side: number | undefined): side is number => side !== undefined && side >= 0.5 && side <= longestSide
  return isSide(width) && isSide(height) ? { width: Math.round(width), height: Math.round(height) } : null
}

/** Returns a length in pixels; NaN for another unit or a missing value. */
const lengthOf = ({ attributes }: Tag, name: string): number =>
  Number(/^([\d.]{1,10})(?:px)?$/i.exec((attributes.get(name) ?? '').slice(0, 100).trim())?.[1])
