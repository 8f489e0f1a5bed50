// A row id that no column of ids can hold is one of a row that is not there: it is missed, and can be disconnected, as on other databases.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describePostgres } from '../servers/server.js'
import { access, contentType } from '../spec/library.js'
import { type Served, serveProject } from '../support/serve.js'

const files = {
  ...contentType('tag', { name: { type: 'string' } }),
  ...contentType('post', { tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' } }),
  ...access(['api::tag.tag.create', 'api::tag.tag.find', 'api::post.post.create', 'api::post.post.find']),
}

describePostgres('row ids beyond their column on PostgreSQL', (server) => {
  let served: Served
  let tag: number
  beforeAll(async () => {
    const url = await server().createDatabase()
    served = await serveProject(files, { environment: { DATABASE_CLIENT: 'postgres', DATABASE_URL: url } })
    tag = (await create('tags', { name: 'one' })).body.data.id
  })
  afterAll(() => served.close())

  const create = (path: string, data: object) =>
    served.request(`/api/${path}?populate=*`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    })

  it.each([2_147_483_648, -2_147_483_649, 1.5, 1e21, '99999999999'])('%j is missed', async (id) => {
    for (const tags of [[id], { connect: [tag, id] }, { set: [{ id }] }]) {
      const { status, body } = await create('posts', { tags })
      expect([status, body.error.message]).toEqual([400, '1 relation(s) of type api::tag.tag associated with this entity do not exist'])
    }
  })

  it.each([2_147_483_648, -2_147_483_649, 1.5, '99999999999'])('%j can be disconnected', async (id) => {
    for (const disconnect of [[id], [id, 7, { id }]]) {
      const { status, body } = await create('posts', { tags: { connect: [tag], disconnect } })
      expect([status, body.data?.tags.map((each: { readonly id: number }) => each.id)]).toEqual([201, [tag]])
    }
  })
})
