// Statements larger than a MariaDB server accepts (R26): the write is refused as a whole, and other clients do not notice.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { notesProject, range } from './notes-service.js'
import { openProxy, type Way } from './proxy.js'
import { describeMariadb, environmentOf } from './server.js'

/** Bytes of a statement at most, and of the body of a request. */
const [packet, bodyBytes] = [1_048_576, 8_000_000]

/** Entries of components are written after the row of their document. */
const files = {
  ...notesProject,
  'src/components/desk/part.json': {
    collectionName: 'components_desk_parts',
    info: { displayName: 'part' },
    attributes: { name: { type: 'string' }, text: { type: 'text' } },
  },
}

describeMariadb(
  'max_allowed_packet',
  (server) => {
    let url: string
    let way: Way
    let service: Served
    let former: number
    beforeAll(async () => {
      former = Number((await server().run(server().root, 'select @@global.max_allowed_packet as value'))[0]!.value)
      await server().run(server().root, `set global max_allowed_packet = ${packet}`)
      url = await server().createDatabase()
      way = await openProxy(url)
      service = await serveProject(files, { config: { limits: { bodyBytes } }, environment: environmentOf(way.url) })
    })
    afterAll(async () => {
      await service?.close()
      await way?.close()
      await server().run(server().root, `set global max_allowed_packet = ${former}`)
    })

    const send = (method: string, path: string, data: object): Promise<TestResponse> =>
      service.request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })
    const count = async (table: string): Promise<number> =>
      Number((await server().run(url, `select count(*) as count from ${table}`))[0]!.count)
    const refused = {
      status: 413,
      body: {
        data: null,
        error: { status: 413, name: 'PayloadTooLargeError', message: expect.stringContaining('max_allowed_packet'), details: {} },
      },
    }
    const large = 'x'.repeat(2 * packet)

    it('errors.11: R26 a statement larger than the server accepts is a 413, and nothing is written', async () => {
      const small = (await send('POST', '/api/memos?status=published', { title: 'small', text: 'kept', part: { name: 'kept' } })).body.data
        .documentId
      const before = [await count('memos'), await count('components_desk_parts'), await count('notes')]
      expect(await send('POST', '/api/notes', { code: 'large', text: large })).toMatchObject(refused)
      expect(await send('POST', '/api/memos', { title: 'large', part: { name: 'large', text: large } })).toMatchObject(refused)
      const changed = { title: 'changed', part: { name: 'large', text: large } }
      expect(await send('PUT', `/api/memos/${small}?status=published`, changed)).toMatchObject(refused)
      expect([await count('memos'), await count('components_desk_parts'), await count('notes')]).toEqual(before)
      expect((await service.request(`/api/memos/${small}?populate=*`)).body.data).toMatchObject({
        title: 'small',
        text: 'kept',
        part: { name: 'kept' },
      })
    })

    it('errors.11: R26 other requests are served, and no connection is lost', async () => {
      const lines = service.log.length
      const before = way.links
      const answers = await Promise.all(
        range(30).map((index) =>
          index % 3 === 0
            ? send('POST', '/api/notes', { code: `large ${index}`, text: large })
            : send('POST', '/api/notes', { code: `small ${index}`, text: 'small' }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(range(30).map((index) => (index % 3 === 0 ? 413 : 201)))
      expect((await service.request('/_health')).status).toBe(204)
      const troubles = service.log.slice(lines).filter((line) => JSON.parse(line).level >= 50)
      expect(troubles).toEqual([])
      expect([...before].filter((link) => !way.links.has(link))).toEqual([])
    })

    it('errors.11: R26 a document that just fits is written as it is', async () => {
      const statuses = new Set<number>()
      for (const missing of range(24)) {
        const text = `${'ü'.repeat((packet - missing * 32) / 2 - 100)}'`
        const { status, body } = await send('POST', '/api/notes', { code: `edge ${missing}`, text })
        statuses.add(status)
        if (status === 201) expect((await service.request(`/api/notes/${body.data.documentId}`)).body.data.text === text).toBe(true)
        else expect(status).toBe(413)
      }
      expect([...statuses].sort()).toEqual([201, 413])
    })
  },
  { ownServer: true },
)
