// A model with every type of attribute and every kind of relation, as it is sent to a service, and an article with a value of each.

/** The schema of a content-type in the format of schema.json, with Draft & Publish unless `more` says otherwise. */
const typeOf = (singularName: string, attributes: object, more: object = {}) => ({
  kind: 'collectionType',
  info: { singularName, pluralName: `${singularName}s`, displayName: singularName },
  options: { draftAndPublish: true },
  attributes,
  ...more,
})
const plain = { options: { draftAndPublish: false } }
const componentOf = (displayName: string, attributes: object) => ({ info: { displayName }, attributes })
const relation = (kind: string, name: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${name}.${name}`,
  ...more,
})
const localized = { pluginOptions: { i18n: { localized: true } } }
const string = { type: 'string' }

/** The attributes of an article. */
export const articleAttributes = {
  title: { ...string, required: true, maxLength: 80, ...localized },
  slug: { type: 'uid', targetField: 'title' },
  lead: { type: 'text', ...localized },
  body: { type: 'richtext' },
  story: { type: 'blocks' },
  contact: { type: 'email' },
  secret: { type: 'password' },
  format: { type: 'enumeration', enum: ['news', 'essay'], default: 'news' },
  pages: { type: 'integer', min: 1 },
  views: { type: 'biginteger' },
  rating: { type: 'float' },
  price: { type: 'decimal' },
  day: { type: 'date' },
  hour: { type: 'time' },
  moment: { type: 'datetime' },
  stamp: { type: 'timestamp' },
  featured: { type: 'boolean', default: false },
  extra: { type: 'json' },
  cover: { type: 'media', multiple: false, allowedTypes: ['images'] },
  gallery: { type: 'media', multiple: true },
  seo: { type: 'component', component: 'shared.seo' },
  links: { type: 'component', component: 'shared.link', repeatable: true },
  sections: { type: 'dynamiczone', components: ['block.quote', 'block.gallery'] },
  author: relation('manyToOne', 'writer', { inversedBy: 'articles' }),
  tags: relation('manyToMany', 'tag', { inversedBy: 'articles' }),
  related: relation('manyToMany', 'article'),
  events: relation('oneToMany', 'event', { mappedBy: 'article' }),
  subject: { type: 'relation', relation: 'morphToOne' },
  mentions: { type: 'relation', relation: 'morphToMany' },
}

/** The schema of articles with these attributes. */
export const articleSchema = (attributes: object) => typeOf('article', attributes, localized)

/** Writers; without a profile, and so on, where attributes are replaced. */
export const everySchema = {
  'shared.seo': componentOf('Seo', { heading: string, image: { type: 'media', multiple: false } }),
  'shared.link': componentOf('Link', { label: { ...string, required: true }, writer: relation('oneToOne', 'writer') }),
  'block.quote': componentOf('Quote', { text: { type: 'text' }, tags: relation('oneToMany', 'tag') }),
  'block.gallery': componentOf('Gallery', {
    pictures: { type: 'media', multiple: true },
    links: { type: 'component', component: 'shared.link', repeatable: true },
  }),
  'api::article.article': articleSchema(articleAttributes),
  'api::writer.writer': typeOf(
    'writer',
    {
      name: { ...string, required: true },
      articles: relation('oneToMany', 'article', { mappedBy: 'author' }),
      profile: relation('oneToOne', 'profile', { inversedBy: 'writer' }),
      favourite: relation('manyToOne', 'tag'),
      mentionedIn: relation('morphMany', 'article', { morphBy: 'mentions' }),
    },
    plain,
  ),
  'api::profile.profile': typeOf('profile', { bio: { type: 'text' }, writer: relation('oneToOne', 'writer', { mappedBy: 'profile' }) }),
  'api::tag.tag': typeOf(
    'tag',
    {
      name: { ...string, unique: true },
      articles: relation('manyToMany', 'article', { mappedBy: 'tags' }),
      subjectOf: relation('morphOne', 'article', { morphBy: 'subject' }),
    },
    plain,
  ),
  'api::event.event': typeOf('event', { place: string, article: relation('manyToOne', 'article', { inversedBy: 'events' }) }, plain),
  'api::home.home': typeOf(
    'home',
    { heading: string, lead: relation('oneToOne', 'article'), shown: relation('oneToMany', 'article') },
    { kind: 'singleType' },
  ),
}

const story = [{ type: 'paragraph', children: [{ type: 'text', text: 'Once' }] }]

/** Scalars of an article as they are written and read; the password is not among them. */
export const scalars = {
  ...{ title: 'Engines', slug: 'engines', lead: 'Numbers that act.', body: '# Notes', story, contact: 'ada@example.com' },
  ...{ format: 'essay', pages: 12, views: '9007199254740993', rating: 4.5, price: 19.99, featured: true, extra: { deep: [1, null, 'ä'] } },
  ...{ day: '2026-11-25', hour: '12:30:00.000', moment: '2026-11-25T12:30:00.000Z' },
}
