// Integers are compared with any number, and ids with any text: comparisons that are 500 in Strapi work like others.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describePostgres } from '../servers/server.js'
import { type Served, serveProject } from '../support/serve.js'

const files = {
  'src/api/count/content-types/count/schema.json': {
    kind: 'collectionType',
    collectionName: 'counts',
    info: { singularName: 'count', pluralName: 'counts', displayName: 'count' },
    options: { draftAndPublish: false },
    attributes: { small: { type: 'integer' }, large: { type: 'biginteger' } },
  },
  'seed/access.json': { roles: { public: ['api::count.count.find'] } },
}
const [least, greatest] = ['-9223372036854775808', '9223372036854775807']

describePostgres('integers on PostgreSQL', (server) => {
  let served: Served
  beforeAll(async () => {
    const url = await server().createDatabase()
    served = await serveProject(files, { environment: { DATABASE_CLIENT: 'postgres', DATABASE_URL: url } })
    await server().run(
      url,
      `insert into counts (document_id, small, large) values ('one', 1, ${least}), ('two', 2, ${greatest}), ('none', null, null)`,
    )
  })
  afterAll(() => served.close())

  async function found(filter: string): Promise<readonly string[]> {
    const { status, text, body } = await served.request(`/api/counts?sort=documentId&${filter}`)
    expect(status, text).toBe(200)
    return body.data.map(({ documentId }: { readonly documentId: string }) => documentId)
  }

  it.each([
    ['filters[small]=1.5', []],
    ['filters[small]=1.0', ['one']],
    ['filters[small][$ne]=1.5', ['one', 'two']],
    ['filters[small][$not][$eq]=1.5', ['one', 'two']],
    ['filters[small][$gt]=1.5', ['two']],
    ['filters[small][$gte]=1.5', ['two']],
    ['filters[small][$lt]=1.5', ['one']],
    ['filters[small][$lte]=1.5', ['one']],
    ['filters[small][$between][0]=0.5&filters[small][$between][1]=1.5', ['one']],
    ['filters[small][$in][0]=1.5&filters[small][$in][1]=2', ['two']],
    ['filters[small][$notIn][0]=1.5&filters[small][$notIn][1]=2', ['one']],
    ['filters[small][$lt]=99999999999', ['one', 'two']],
    ['filters[small][$gt]=99999999999', []],
    ['filters[small]=99999999999', []],
    ['filters[small][$gt]=-1e300', ['one', 'two']],
    [`filters[large]=${least}`, ['one']],
    [`filters[large]=${greatest}`, ['two']],
    [`filters[large][$gt]=${greatest}`, []],
    [`filters[large][$gte]=${greatest}`, ['two']],
    [`filters[large][$lt]=${greatest}`, ['one']],
    ['filters[large]=9223372036854775808', []],
    ['filters[large][$in][0]=1.5', []],
    ['filters[id]=abc', []],
    ['filters[id][$ne]=abc', ['none', 'one', 'two']],
    ['filters[id][$gt]=abc', []],
    ['filters[id]=1.5', []],
    ['filters[id]=99999999999', []],
  ])('%s', async (filter, expected) => {
    expect(await found(filter)).toEqual(expected)
  })
})
