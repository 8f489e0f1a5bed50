// One line about a value, for folded entries.
import { type Entry, type FormAttribute, isObject, kindOf } from '../form/values.js'
import { isColor } from '../parts/color-text.js'
import type { TypeDescription } from './document.js'
import { fileName } from './files.js'
import { linkName } from './link-name.js'

/** Longest text of a line. */
const maxLength = 120

/** The texts of blocks, one after the other. */
function blocksText(value: unknown): string {
  if (Array.isArray(value)) {
    let text = ''
    for (const node of value) {
      text += ` ${blocksText(node)}`
      if (text.length > maxLength) break
    }
    return text
  }
  if (!isObject(value)) return ''
  return typeof value.text === 'string' ? value.text : blocksText(value.children)
}

/** Longest Markdown that is read for a summary. */
const maxMarkdown = 2_000

/** The words of a Markdown text, without its marks. */
export const plainMarkdown = (text: string): string =>
  text
    .slice(0, maxMarkdown)
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/^\s*(?:[-+]|\d{1,9}[.)])\s/gm, '')
    .replace(/[#*_`>~[\]]/g, '')

/** A line about a value; empty: there is nothing to say. */
function summaryOf(type: TypeDescription, attribute: FormAttribute, value: unknown): string {
  return shortened(textOf(type, attribute, value))
}

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}

const first = (value: unknown): Entry | null => (Array.isArray(value) ? (value[0] ?? null) : isObject(value) ? value : null)

function textOf(type: TypeDescription, attribute: FormAttribute, value: unknown): string {
  if (value === null || value === undefined || attribute.type === 'password') return ''
  switch (kindOf(attribute)) {
    case 'file':
    case 'files':
      return fileName(first(value) ?? {})
    case 'link':
    case 'links':
      return linkName(first(value) ?? {}, '')
    case 'component':
    case 'list':
    case 'zone': {
      const entry = first(value)
      return entry === null ? '' : entrySummary(type, String(entry.__component ?? attribute.component), entry)
    }
    default:
      return scalarText(attribute, value)
  }
}

function scalarText({ type }: FormAttribute, value: unknown): string {
  if (type === 'blocks') return blocksText(value)
  if (type === 'richtext') return plainMarkdown(String(value))
  return (typeof value === 'string' && !isColor(value)) || typeof value === 'number' ? String(value) : ''
}

/** Texts come before choices and numbers. */
const texts = /^(string|text|richtext|blocks|email)$/

/** A line about an entry: its main field, or the first attribute with something to say. */
export function entrySummary(type: TypeDescription, uid: string, entry: Entry): string {
  const component = type.components[uid]
  if (component === undefined) return ''
  const names = Object.keys(component.attributes)
  const main = String(component.layout.settings.mainField)
  const isText = (name: string) => texts.test(component.attributes[name]?.type ?? '')
  const ordered = [...new Set([...(isText(main) ? [main] : []), ...names.filter(isText), ...names])]
  for (const name of ordered) {
    const attribute = component.attributes[name] as FormAttribute | undefined
    const found = attribute === undefined || attribute.type === 'boolean' ? '' : summaryOf(type, attribute, entry[name])
    if (found !== '') return found
  }
  return ''
}
