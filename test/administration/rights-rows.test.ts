// Rights from rows of admin_permissions, as queries are read with them: no service is needed.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect } from 'vitest'
import { createGrants } from '../../src/admin/permissions/grants.js'
import type { PermissionRow } from '../../src/admin/permissions/permissions.js'
import type { Grants } from '../../src/foundation/grants.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { contracts } from '../../src/query/contract.js'
import type { Populated, Selection } from '../../src/query/request.js'
import { type Parameters, parseParameters } from '../../src/query/request.js'
import { type ReadContext, readRequest } from '../../src/query/rest/read.js'
import { rule } from '../support/rule.js'

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'examples', 'magazine')
const article = 'api::article.article'
const author = 'api::author.author'
const pitch = 'api::pitch.pitch'
const all = { locales: null }

let model: Model
beforeAll(async () => {
  model = await loadModel({ folder: project })
})

const row = (action: string, subject: string, properties: unknown = all, conditions: unknown = []): PermissionRow => ({
  action: `plugin::content-manager.explorer.${action}`,
  subject,
  properties,
  conditions,
})

const grantsFor = (...rows: readonly PermissionRow[]): Grants => createGrants(rows, model, { id: 7, roles: [5], isSuperAdmin: false })

function read(grants: Grants, query: string, uid = article) {
  const context: ReadContext = {
    model,
    contract: contracts.specification,
    defaultLocale: 'en',
    pages: { defaultLimit: 25, maxLimit: 100 },
    limits: { filterRelations: 10, queryComplexity: 1000 },
    strictParams: true,
  } as unknown as ReadContext
  return readRequest(context, grants, { type: model.types.get(uid)!, mode: 'many' }, parseParameters(query) as Parameters)
}

/** The error of a query as its status and message; null if there is none. */
function refused(grants: Grants, query: string, uid = article): string | null {
  try {
    read(grants, query, uid)
    return null
  } catch (error) {
    return `${(error as { status: number }).status} ${(error as Error).message}`
  }
}

const names = ({ fields, populate }: Pick<Selection, 'fields' | 'populate'>): string[] => [
  ...fields.map(({ name }) => name),
  ...populate.map(({ attribute }) => attribute.name),
]
const below = ({ populate }: Selection, name: string) => populate.find(({ attribute }) => attribute.name === name) as Populated | undefined

rule('rights.1', 'rows are joined by or, per action and type, and the super administrator needs none', () => {
  const grants = grantsFor(row('read', article, { ...all, fields: ['title'] }), row('read', article, { ...all, fields: ['slug'] }))
  expect(names(read(grants, '').selection)).toEqual(expect.arrayContaining(['title', 'slug']))
  expect(names(read(grants, '').selection)).not.toContain('kicker')
  expect(
    ['find', 'findOne', 'findDraft', 'create', 'update', 'publish', 'delete'].filter((name) => grants.may(`${article}.${name}`)),
  ).toEqual(['find', 'findOne', 'findDraft'])
  expect(grants.may(`${author}.find`)).toBe(false)
  const everything = createGrants([], model, { id: 1, roles: [], isSuperAdmin: true })
  expect(everything.may(`${author}.delete`)).toBe(true)
  expect(names(read(everything, 'populate=*').selection)).toEqual(expect.arrayContaining(['title', 'author', 'createdBy', 'editorNote']))
  for (const uid of ['admin::user', 'admin::api-token', 'plugin::users-permissions.role', 'admin::permission'])
    expect([uid, everything.may(`${uid}.find`)]).toEqual([uid, false])
})

rule('rights.2', 'fields name attributes: missing all, empty none, dotted through components, zones whole', () => {
  const of = (fields: unknown): string[] => {
    const grants = grantsFor(row('read', article, { ...all, ...(fields === undefined ? {} : { fields }) }))
    return grants.may(`${article}.find`) ? names(read(grants, 'populate=*').selection) : ['nothing']
  }
  expect(of(undefined)).toEqual(expect.arrayContaining(['title', 'editorNote', 'seo', 'extras', 'cover']))
  for (const none of [[], 'title', 3, { title: true }]) expect(of(none)).toEqual(['nothing'])
  expect(of(['title', 'nowhere', 5])).toEqual([
    ...['id', 'documentId', 'title', 'createdAt', 'updatedAt', 'publishedAt', 'locale'],
    ...['createdBy', 'updatedBy', 'localizations'],
  ])
  const grants = grantsFor(row('read', article, { ...all, fields: ['seo.metaTitle', 'extras', 'extras.title'] }))
  const { selection } = read(grants, 'populate=*')
  const seo = below(selection, 'seo')
  expect(seo?.kind === 'component' && names(seo.of)).toEqual(['id', 'metaTitle'])
  const extras = below(selection, 'extras')
  expect(extras?.kind === 'zone' && extras.on.every((one) => one.fields.length > 1)).toBe(true)
  expect(refused(grants, 'filters[seo][metaDescription]=x')).toContain('400 Invalid key metaDescription')
  expect(refused(grants, 'filters[seo][metaTitle]=x')).toBeNull()
  // As Strapi writes rights to a whole component.
  const component = [...model.components.get('shared.seo')!.attributes.keys()].filter((name) => name !== 'id')
  const named = grantsFor(row('read', article, all), row('update', article, { ...all, fields: component.map((name) => `seo.${name}`) }))
  const [right] = named.content!.toWrite(article, 'update')
  expect(right!.attributes !== 'all' && right!.attributes.get('seo')).toBe('all')
  const users = grantsFor(row('read', 'plugin::users-permissions.user'))
  const user = read(users, '', 'plugin::users-permissions.user').selection
  expect(names(user)).toContain('email')
  for (const secret of ['password', 'resetPasswordToken', 'confirmationToken']) expect(names(user)).not.toContain(secret)
  expect(refused(users, 'filters[resetPasswordToken][$startsWith]=a', 'plugin::users-permissions.user')).toContain('400')
})

rule('rights.3', 'locales name locales of localized types alone', () => {
  const scopeOf = (properties: unknown, uid = article) => {
    const grants = grantsFor(row('read', uid, properties))
    return grants.may(`${uid}.find`) ? (grants.scopes.get(uid) ?? 'all') : 'nothing'
  }
  expect(scopeOf({ locales: null })).toBe('all')
  expect(scopeOf({ locales: ['de'] })).toEqual({ locale: { $in: ['de'] } })
  for (const none of [{}, { locales: [] }, { locales: 'de' }, null, 'all']) expect(scopeOf(none)).toBe('nothing')
  expect(model.types.get(pitch)!.localized).toBe(false)
  expect(scopeOf({ locales: [] }, pitch)).toBe('all')
})

rule('rights.4', 'conditions are joined by or, and one that is not known never holds', () => {
  const scopeOf = (...conditions: readonly unknown[]) => {
    const grants = grantsFor(...conditions.map((each) => row('read', pitch, {}, each)))
    return grants.may(`${pitch}.find`) ? (grants.scopes.get(pitch) ?? 'all') : 'nothing'
  }
  const creator = { createdBy: { id: { $eq: 7 } } }
  const colleague = { createdBy: { roles: { id: { $in: [5] } } } }
  expect(scopeOf([])).toBe('all')
  expect(scopeOf(['admin::is-creator'])).toEqual(creator)
  expect(scopeOf(['admin::is-creator', 'admin::has-same-role-as-creator'])).toEqual({ $or: [creator, colleague] })
  expect(scopeOf(['admin::is-creator', 'api::shop.is-open'])).toEqual(creator)
  for (const none of [['api::shop.is-open'], [5], 'admin::is-creator', {}]) expect(scopeOf(none)).toBe('nothing')
  expect(scopeOf(['admin::is-creator'], ['admin::has-same-role-as-creator'])).toEqual({ $or: [creator, colleague] })
  expect(scopeOf(['admin::is-creator'], [])).toBe('all')
  // Grants of two administrators share plans only if they show the same.
  const keyOf = (id: number, conditions: unknown) =>
    createGrants([row('read', pitch, {}, conditions)], model, { id, roles: [5], isSuperAdmin: false }).key
  expect(keyOf(7, ['admin::is-creator'])).not.toBe(keyOf(8, ['admin::is-creator']))
  expect(keyOf(7, [])).toBe(keyOf(8, []))
})

rule('rights.5', 'unreadable attributes cannot be named', () => {
  const grants = grantsFor(
    row('read', article, { ...all, fields: ['title', 'author', 'tags'] }),
    row('read', author, { ...all, fields: ['name'] }),
  )
  const hidden = [
    ...[
      'filters[editorNote]=x',
      'filters[$or][0][slug]=x',
      'filters[$not][slug]=x',
      'filters[author][email]=x',
      'filters[seo][metaTitle]=x',
    ],
    ...['filters[category][name]=x', 'filters[tags][name]=x', 'filters[createdBy][email]=x', 'filters[createdBy][password]=x'],
    ...['filters[createdBy][roles][id]=1', 'filters[author][articles][slug]=x'],
    ...[
      'sort=slug',
      'sort=author.email',
      'sort[createdBy][email]=asc',
      'fields=slug',
      'populate=category',
      'populate=cover',
      'populate=seo',
    ],
    ...[
      'populate[author][fields]=email',
      'populate[author][filters][email]=x',
      'populate[author][sort]=email',
      'populate[author][populate]=portrait',
    ],
    ...['populate[createdBy][fields]=email', 'populate=author.articles.slug'],
  ]
  for (const query of hidden) expect([query, refused(grants, query)]).toEqual([query, expect.stringContaining('400 Invalid key')])
  for (const query of ['filters[title]=x', 'filters[author][name]=x', 'sort=title', 'sort=author.name', 'filters[createdBy][id]=7'])
    expect([query, refused(grants, query)]).toEqual([query, null])
  const searched = JSON.stringify(read(grants, '_q=mill').filter, (key, value) => (key === 'attribute' ? value.name : value))
  expect(searched).toContain('"title"')
  for (const name of ['slug', 'editorNote', 'summary']) expect(searched).not.toContain(`"${name}"`)
})

rule('rights.6', 'relations to types that may not be read are left out', () => {
  const grants = grantsFor(row('read', article, { ...all, fields: ['title', 'author', 'letters'] }))
  expect(names(read(grants, 'populate=*').selection)).not.toContain('author')
  expect(names(read(grants, 'populate=*').selection)).not.toContain('letters')
  expect(refused(grants, 'filters[author][id]=1')).toContain('400')
})

rule('rights.7', 'rights that show different documents share the attributes that all of them name', () => {
  const grants = grantsFor(
    row('read', article, { ...all, fields: ['title', 'seo.metaTitle'] }),
    row('read', article, { ...all, fields: ['title', 'slug', 'seo'] }, ['admin::is-creator']),
  )
  const { selection } = read(grants, 'populate=*')
  expect(names(selection)).toContain('title')
  expect(names(selection)).not.toContain('slug')
  const seo = below(selection, 'seo')
  expect(seo?.kind === 'component' && names(seo.of)).toEqual(['id', 'metaTitle'])
  // A right that another one covers takes nothing away.
  const covered = grantsFor(row('read', article, all), row('read', article, { ...all, fields: ['title'] }, ['admin::is-creator']))
  expect(names(read(covered, '').selection)).toContain('slug')
  expect(covered.scopes.size).toBe(0)
})

rule('rights.8', 'writing requires the right to read', () => {
  const grants = grantsFor(row('create', article), row('update', article), row('delete', article), row('publish', article))
  for (const action of ['find', 'create', 'update', 'delete', 'publish', 'unpublish', 'discard'])
    expect([action, grants.may(`${article}.${action}`)]).toEqual([action, false])
  const both = grantsFor(row('read', article), row('update', article), row('publish', article))
  expect(['create', 'update', 'delete', 'publish', 'unpublish', 'discard'].filter((action) => both.may(`${article}.${action}`))).toEqual([
    ...['update', 'publish', 'unpublish', 'discard'],
  ])
})
