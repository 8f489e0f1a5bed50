// A number that its column cannot hold is named by its attribute's own rule, also where it must be unique: it is not looked up.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describePostgres } from '../servers/server.js'
import { access, contentType } from '../spec/library.js'
import { type Served, serveProject } from '../support/serve.js'

const files = {
  ...contentType('seat', { number: { type: 'integer', unique: true }, large: { type: 'biginteger', unique: true } }),
  ...access(['api::seat.seat.create']),
}

describePostgres('unique numbers on PostgreSQL', (server) => {
  let served: Served
  beforeAll(async () => {
    const url = await server().createDatabase()
    served = await serveProject(files, { environment: { DATABASE_CLIENT: 'postgres', DATABASE_URL: url } })
  })
  afterAll(() => served.close())

  const create = (data: object) =>
    served.request('/api/seats', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

  it.each([1.5, '5.5', '.5', 1e-7, '1e400', 'Infinity'])('%j is no integer', async (number) => {
    const { status, body } = await create({ number })
    expect([status, body.error.message]).toEqual([400, 'number must be an integer'])
    expect(body.error.details.errors).toMatchObject([{ path: ['number'], message: 'number must be an integer' }])
  })

  it('a number that another document has is still refused', async () => {
    expect((await create({ number: 7 })).status).toBe(201)
    const { status, body } = await create({ number: '7' })
    expect([status, body.error.message]).toEqual([400, 'This attribute must be unique'])
  })

  it('a big integer that is taken is named by the text that is stored', async () => {
    expect((await create({ large: '9007199254740993' })).status).toBe(201)
    for (const large of ['9007199254740993', ' +09007199254740993 ']) {
      const { status, body } = await create({ large })
      const errors = [{ path: ['large'], message: 'This attribute must be unique', name: 'ValidationError', value: '9007199254740993' }]
      expect([status, body.error.details.errors]).toEqual([400, errors])
    }
    expect((await create({ large: 12 })).status).toBe(201)
    expect((await create({ large: 12 })).body.error.details.errors).toMatchObject([{ value: '12' }])
  })
})
