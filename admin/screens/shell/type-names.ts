// Names of content-types in menus and titles.
import type { Data } from '../../server/client.js'

/** The data of the shell. */
export type Start = Data<'/start', 'GET'>

/** A type as the shell knows it. */
type ShownType = Start['types'][number]

const slug = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')
const words = (text: string): string => {
  const spaced = text.replaceAll('-', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** The title of a list: the plural name ("Articles"), or a custom display name. */
export const listName = ({ kind, displayName, singularName, pluralName }: ShownType): string =>
  kind === 'collectionType' && slug(displayName) === singularName ? words(pluralName) : displayName

/** A group of the menu. */
interface TypeGroup {
  readonly name: 'content' | 'single'
  readonly types: readonly ShownType[]
}

const groupOf = ({ kind }: ShownType): TypeGroup['name'] => (kind === 'singleType' ? 'single' : 'content')

/** The types of the menu in groups, without those that may not be read, and without users, who are not edited as documents. */
export function groupTypes(types: readonly ShownType[], compare: (a: string, b: string) => number): readonly TypeGroup[] {
  const readable = types.filter(({ uid, actions }) => actions.includes('read') && !uid.startsWith('plugin::'))
  const shown = readable.sort((one, other) => compare(listName(one), listName(other)))
  return (['content', 'single'] as const)
    .map((name) => ({ name, types: shown.filter((type) => groupOf(type) === name) }))
    .filter((group) => group.types.length > 0)
}
