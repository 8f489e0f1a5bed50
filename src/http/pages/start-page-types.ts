// The content-types on the start page: their requests and attributes, and how closed ones are opened.
import type { Grants } from '../../foundation/grants.js'
import { commandLine } from '../../foundation/runtime/command-line.js'
import { isAlwaysRequired } from '../../model/schema/conditions.js'
import type { Attribute, ContentType, Model } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import { escapeHtml } from './escape-html.js'
import { examplesOfType, type ReadableTypes } from './examples.js'

/** What the start page shows of types. */
export interface ShownTypes extends ReadableTypes {
  /** Of the API. */
  readonly prefix: string
  /** Also what the visitor may not read: closed types, private attributes, relations to closed types. */
  readonly showsAll: boolean
  /** Of the project, for commands. */
  readonly folder: string
}

/** A command with a button that copies it. */
export const commandHtml = (command: string): string =>
  `<p class="command"><code>${escapeHtml(command).replaceAll(',', ',<wbr>')}</code><button type="button" data-copy="${escapeHtml(command)}">Copy</button></p>`

/** A type that the visitor may read; `isOpen`: its requests are unfolded. */
export function openType(path: string, type: ContentType, shown: ShownTypes, isOpen: boolean): string {
  const href = `${shown.prefix}/${path}`
  const requests = examplesOfType(type, shown.visitor, href).map(
    (example) =>
      `<li><a class="request" data-request href="${escapeHtml(example.href)}">${escapeHtml(example.what)}<code class="query">${queryHtml(example.href)}</code></a></li>`,
  )
  const list = type.singleType ? '' : ` data-list="${escapeHtml(href)}" data-count="${type.draftAndPublish ? 'published' : 'documents'}"`
  return `<details class="type"${list}${isOpen ? ' open' : ''}><summary class="name"><b>${escapeHtml(type.displayName)}</b>${badges(type)}<span class="count"></span><code class="path">${escapeHtml(href)}</code></summary>
<ul class="requests">${requests.join('')}</ul>${attributesHtml(type, shown)}</details>`
}

/** A type that the visitor may not read, with the command that lets everybody; `isOpen`: the command is unfolded. */
export function closedType(path: string, type: ContentType, shown: ShownTypes, isOpen: boolean): string {
  const actions = (type.singleType ? (['find'] as const) : (['find', 'findOne'] as const)).filter(
    (action) => shown.leftOut?.(type.uid, action) !== true,
  )
  const command = commandLine(`roles grant public ${actions.map((action) => `${type.uid}.${action}`).join(',')}`, shown.folder)
  return `<details class="type"${isOpen ? ' open' : ''}><summary class="name"><b>${escapeHtml(type.displayName)}</b>${badges(type)}<code class="path">${escapeHtml(`${shown.prefix}/${path}`)}</code></summary>
${commandHtml(command)}${attributesHtml(type, shown)}</details>`
}

function badges({ draftAndPublish, localized }: ContentType): string {
  const words = [...(draftAndPublish ? ['drafts'] : []), ...(localized ? ['locales'] : [])]
  return words.map((word) => `<small>${word}</small>`).join('')
}

/** The query of an address, where it may break: before each parameter. */
const queryHtml = (href: string): string => {
  const [, query] = href.split('?')
  return query === undefined ? '' : escapeHtml(`?${query}`).replaceAll('&#38;', '<wbr>&#38;')
}

function attributesHtml({ attributes }: ContentType, { model, visitor, showsAll }: ShownTypes): string {
  const isShown = (attribute: Attribute): boolean =>
    !/^(?:created|updated)By$/.test(attribute.name) &&
    (showsAll || (!attribute.private && !isSecret(attribute) && mayFollow(attribute, visitor)))
  const rows = [...attributes.values()].filter(isShown).map((attribute) => {
    const notes = [...(isAlwaysRequired(attribute) ? ['required'] : []), ...(attribute.private ? ['private'] : [])]
    return `<dt>${escapeHtml(attribute.name)}</dt><dd>${escapeHtml(kindOf(model, attribute))}${notes.map((note) => ` <i>${note}</i>`).join('')}</dd>`
  })
  return `<details class="attributes"><summary>${rows.length} attributes</summary><dl>${rows.join('')}</dl></details>`
}

const isSecret = (attribute: Attribute): boolean => attribute.kind === 'scalar' && attribute.type === 'password'
const mayFollow = (attribute: Attribute, visitor: Grants): boolean =>
  (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') || visitor.may(`${attribute.target}.find`)

/** Values of an enumeration that are listed. */
const mostChoices = 6

function choicesOf({ source }: Attribute): string {
  const choices: readonly unknown[] = Array.isArray(source.enum) ? source.enum : []
  const more = choices.length > mostChoices ? ', …' : ''
  return `enumeration: ${choices.slice(0, mostChoices).join(', ')}${more}`
}

function kindOf(model: Model, attribute: Attribute): string {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type === 'enumeration' ? choicesOf(attribute) : attribute.type
    case 'relation':
    case 'morphFrom':
      return `${attribute.many ? 'relations' : 'relation'} to ${model.types.get(attribute.target)?.singularName ?? attribute.target}`
    case 'morphTo':
      return attribute.many ? 'relations to several types' : 'relation to several types'
    case 'media':
      return attribute.many ? 'files' : 'file'
    case 'component':
      return `${attribute.repeatable ? 'components' : 'component'} ${attribute.component}`
    case 'dynamiczone':
      return `dynamic zone of ${attribute.components.length} components`
    default:
      return assertNever(attribute)
  }
}
