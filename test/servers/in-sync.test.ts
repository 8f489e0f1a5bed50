// A PUT that publishes includes all unpublished changes of its draft, also those of other clients. A process need not compare a document
// again that it left in sync, until another one writes (decision 017).
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServices, type NotesService, pause, range, serveTwoNotes } from './notes-service.js'
import { describePostgres, describeServers } from './server.js'

interface Memo {
  readonly title: string
  readonly text: string | null
  readonly part: { readonly name: string }
}

async function put(service: NotesService, path: string, data: object): Promise<void> {
  const { status, text } = await service.send('PUT', path, data)
  expect(status, text).toBe(200)
}

/** A published memo that the service knows to be in sync; its path. */
async function memoInSync(service: NotesService): Promise<string> {
  const { status, text, body } = await service.send('POST', '/api/memos', { title: 'New', text: 'before', part: { name: 'before' } })
  expect(status, text).toBe(201)
  const path = `/api/memos/${body.data.documentId}`
  for (const round of range(3)) await put(service, path, { title: `In sync ${round}` })
  return path
}

async function published(service: NotesService, path: string): Promise<Memo> {
  const { status, text, body } = await service.request(`${path}?populate=*`)
  expect(status, text).toBe(200)
  return body.data as Memo
}

describeServers('a draft that was in sync', (server) => {
  let url: string
  let first: NotesService
  let second: NotesService
  beforeAll(async () => {
    ;({ url, first, second } = await serveTwoNotes(server()))
  })
  afterAll(() => closeServices(second, first))

  const idOf = (path: string): string => path.split('/').at(-1)!
  const setText = (path: string, text: string): string =>
    `update memos set text = '${text}' where document_id = '${idOf(path)}' and published_at is null`

  it('with later changes of another program is published including these changes', async () => {
    for (const round of range(3)) {
      const path = await memoInSync(first)
      await server().run(url, setText(path, `outside ${round}`))
      await put(first, path, { title: 'After' })
      expect(await published(first, path)).toMatchObject({ title: 'After', text: `outside ${round}` })
    }
  })

  it('and whose component another program has changed since', async () => {
    const path = await memoInSync(first)
    await server().run(
      url,
      `update components_desk_parts set name = 'outside' where id in (select cmp_id from memos_cmps where entity_id in
        (select id from memos where document_id = '${idOf(path)}' and published_at is null))`,
    )
    await put(first, path, { title: 'After' })
    expect(await published(first, path)).toMatchObject({ title: 'After', part: { name: 'outside' } })
  })

  it('and that another process has changed since', async () => {
    const path = await memoInSync(first)
    await put(second, `${path}?status=draft`, { text: 'elsewhere' })
    await put(first, path, { title: 'After' })
    expect(await published(first, path)).toMatchObject({ title: 'After', text: 'elsewhere' })
  })

  it('and that a transaction has changed that began before, and was committed between two PUTs', async () => {
    const [path, other] = [await memoInSync(first), await memoInSync(first)]
    const pause = server().client === 'postgres' ? 'select pg_sleep(1)' : 'select sleep(1)'
    // Its id is lower than those of all writes of the service that follow.
    const work = server().run(url, `begin; ${setText(path, 'late')}; ${pause}; commit`)
    let isOver = false
    void work.then(() => (isOver = true))
    for (let round = 0; !isOver; round++) await put(first, other, { title: `Meanwhile ${round}` })
    await work
    await put(first, path, { title: 'After' })
    expect(await published(first, path)).toMatchObject({ title: 'After', text: 'late' })
  })

  it('and that is changed by many others at once: the last PUT leaves nothing out', async () => {
    const paths = [await memoInSync(first), await memoInSync(first)]
    for (const round of range(10)) {
      await Promise.all(
        paths.flatMap((path) => [
          first.send('PUT', path, { title: `Mine ${round}` }),
          first.send('PUT', `${path}?status=draft`, { text: `drafted ${round}` }),
          second.send('PUT', path, { part: { name: `elsewhere ${round}` } }),
          server()
            .run(url, setText(path, `outside ${round}`))
            .catch(() => {}),
        ]),
      )
      for (const path of paths) {
        await put(first, path, { title: `After ${round}` })
        const { body } = await first.request(`${path}?status=draft&populate=*`)
        const { title, text, part } = body.data as Memo
        expect(await published(first, path)).toMatchObject({ title, text, part: { name: part.name } })
      }
    }
  })
})

describePostgres(
  'a draft that is in sync',
  (server) => {
    it('is not compared while only this process writes (not looked at on a server that other tests write to)', async () => {
      // The numbers of transactions are those of the whole server.
      if (server().crash === null) return
      const { url, first, second } = await serveTwoNotes(server())
      try {
        const [one, other] = [await memoInSync(first), await memoInSync(first)]
        expect((await first.send('POST', '/api/notes', { text: 'Beside' })).status).toBe(201)
        await put(first, other, { title: 'Beside' })
        // Readers of the components of memos wait.
        const release = await server().lockTable(url, 'memos_cmps')
        let compared: Promise<void> = Promise.resolve()
        try {
          for (const round of range(5)) await put(first, one, { title: `Not compared ${round}` })
          await put(second, `${other}?status=draft`, { title: 'Elsewhere' })
          let isOver = false
          compared = put(first, one, { title: 'Compared' }).finally(() => (isOver = true))
          await pause(500)
          expect(isOver).toBe(false)
        } finally {
          await release()
        }
        await compared
      } finally {
        await closeServices(second, first)
      }
    })
  },
  { ownServer: true },
)
