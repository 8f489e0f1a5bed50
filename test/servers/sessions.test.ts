// Sessions of the database server, read from the statements on their way: a service leaves nothing in them that a later statement of
// another client could meet.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { until } from '../support/until.js'
import { type NotesService, notesProject, range, serveNotes } from './notes-service.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { describeServers } from './server.js'

const token = 'may-do-everything'
const noteFile = 'src/api/note/content-types/note/schema.json'

/** Statements of MySQL and MariaDB connections before the first one of a request; there are no transaction settings. */
const greeting = /^(?:set names|set session|select @@max_allowed_packet$|show variables like)/

/** Reads and writes of the requested content. */
const isContent = /\binsert into ["`](?:memos|notes)|\bfrom ["`](?:memos|notes)["`] as/

const lockNames = ['prepare', 'start', 'index']

/** The number of these locks that no session has. */
const freeLocks = `select ${lockNames.map((name) => `is_free_lock(concat('octavo_${name}_', md5(database())))`).join(' + ')} as free`

const isIndexAttempt = /get_lock\(concat\('octavo_index_.*, 0\)/

const ofSession =
  /(?:^|; *)set (?!local\b)|\b(?:listen|notify|pg_notify|get_lock|pg_advisory_(?:un)?lock|pg_try_advisory_lock|create temp\w*)\b|@\w+ *:=/i

describeServers('sessions', (server, { client }) => {
  let way: Way
  let service: NotesService
  const sent: { readonly link: Link; readonly text: string }[] = []
  beforeAll(async () => {
    way = await openProxy(await server().createDatabase())
    way.watch = ({ type, text }, link) => {
      if (type === 'Q') sent.push({ link, text: text.replace(/\0$/, '') })
      if (type === 'P') sent.push({ link, text: text.split('\0')[1]! })
    }
    service = await serveNotes(way.url, {
      config: { admin: { model: 'always' } },
      // A busy machine takes longer than three seconds to serve thirty requests.
      environment: { ...secrets, OCTAVO_DATABASE_INDEXES: 'true', DATABASE_CONNECTION_TIMEOUT: '120000' },
    })
    await addToken(service, token, { type: 'full-access' })
  })
  afterAll(async () => {
    await service?.close()
    await way?.close()
  })

  const textsOn = (link: Link): readonly string[] => sent.filter((each) => each.link === link).map(({ text }) => text)
  const links = (): readonly Link[] => [...new Set(sent.map(({ link }) => link))]

  it('portability.5: locks of what one process does alone are given back, and on PostgreSQL belong to a transaction', async () => {
    const schema = notesProject[noteFile as keyof typeof notesProject] as unknown as { readonly attributes: object }
    for (const text of [{ type: 'text' }, { type: 'integer' }]) {
      const body = JSON.stringify({
        data: { 'api::note.note': { ...schema, attributes: { ...schema.attributes, text, more: { type: 'string' } } } },
      })
      const headers = { 'content-type': 'application/json', 'octavo-agree': 'notes.text' }
      const changed = await service.request('/api/content-type-builder/schemas', { method: 'PUT', token, headers, body })
      expect(changed.status, changed.text).toBe(200)
    }
    const all = links().map(textsOn)
    if (client === 'postgres') {
      expect(all.flat().filter((text) => /pg_\w*advisory\w*/.test(text)).length).toBeGreaterThan(0)
      expect(all.flat().filter((text) => /pg_(?:try_)?advisory_(?!xact_lock\()/.test(text))).toEqual([])
      return
    }
    const locks = (texts: readonly string[]) => texts.filter((text) => /get_lock|release_lock/.test(text))
    expect(locks(all.flat()).length).toBeGreaterThan(3)
    for (const texts of all) {
      // Index creation tries again, without waiting, while the session before it still has the lock.
      const taken = locks(texts).filter((text, at, before) => at === 0 || text !== before[at - 1] || !isIndexAttempt.test(text))
      for (const [at, text] of taken.entries()) expect(text).toContain(at % 2 === 0 ? 'get_lock' : 'release_lock')
    }
    await until('all are given back', async () => {
      const isReleased = [...way.links].every((link) => locks(textsOn(link)).at(-1)?.includes('get_lock') !== true)
      return isReleased && (await service.sql(freeLocks))[0]!.free === lockNames.length
    })
  })

  it('portability.3: reads and writes of content keep nothing in a session', async () => {
    const before = new Set(sent)
    const answers = await Promise.all(
      range(30).map((index) =>
        index % 2 === 0
          ? service.request('/api/notes?sort=code&populate=*')
          : service.send('POST', '/api/memos?status=published', { title: `${index}`, part: { name: 'x' } }),
      ),
    )
    for (const { status, text } of answers) expect(status, text).toBeLessThan(300)
    expect(sent.length - before.size).toBeGreaterThan(60)
    const since = (link: Link): readonly string[] => {
      const all = sent.filter((each) => each.link === link)
      const first = client === 'postgres' ? 0 : all.findIndex(({ text }) => !greeting.test(text))
      return all.filter((each, at) => first !== -1 && at >= first && !before.has(each)).map(({ text }) => text)
    }
    // Index creation for the changed model may still be running, on its own connection.
    const createsIndexes = (link: Link) => since(link).some((text) => /get_lock\(.*octavo_index_/.test(text))
    expect(
      links()
        .filter(createsIndexes)
        .flatMap(since)
        .filter((text) => isContent.test(text)),
    ).toEqual([])
    const content = links()
      .filter((link) => !createsIndexes(link))
      .flatMap(since)
    expect(content.filter((text) => isContent.test(text)).length).toBeGreaterThanOrEqual(30)
    expect(content.filter((text) => ofSession.test(text))).toEqual([])
  })
})
