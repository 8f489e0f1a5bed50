// Content-types to begin with, which the start page of a project without any offers.
const text = { type: 'string' } as const
const title = { type: 'string', required: true, maxLength: 120 } as const
const slugOf = (targetField: string) => ({ type: 'uid', targetField }) as const
const picture = { type: 'media', multiple: false, allowedTypes: ['images'] } as const

const ready = (singularName: string, draftAndPublish: boolean, attributes: object) => ({
  kind: 'collectionType',
  collectionName: `${singularName}s`,
  info: { singularName, pluralName: `${singularName}s`, displayName: singularName.charAt(0).toUpperCase() + singularName.slice(1) },
  options: { draftAndPublish },
  attributes,
})

/** The schemas. */
export const readyTypes = [
  ready('article', true, {
    title,
    slug: slugOf('title'),
    summary: { type: 'text', maxLength: 400 },
    body: { type: 'richtext' },
    cover: picture,
  }),
  ready('product', false, {
    ...{ name: title, slug: slugOf('name'), description: { type: 'text' } },
    price: { type: 'decimal', min: 0 },
    inStock: { type: 'boolean', default: true },
    picture,
  }),
  ready('event', false, {
    ...{ title, slug: slugOf('title'), starts: { type: 'datetime', required: true }, ends: { type: 'datetime' } },
    ...{ place: text, description: { type: 'text' }, picture },
  }),
] as const
