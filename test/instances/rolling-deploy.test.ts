// R33: instances with the schema files of two deployments serve one database, with readers and writers on all of them. A deployment that only
// adds is harmless; one that removes needs a command, and nothing is lost.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, expect, vi } from 'vitest'
import type { Child } from '../faults/child.js'
import { describePostgres, environmentOf } from '../servers/server.js'
import { secrets } from '../spec/callers.js'
import { contentType } from '../spec/library.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { requestAt, type TestResponse } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { patience } from '../support/until.js'
import { endAll, notes, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

const json = { 'content-type': 'application/json' }

/** A deployment: the project with these attributes of notes, and with tags or without. */
const deployment = (attributes: readonly string[], hasTags = false): string =>
  project({
    ...notes(),
    ...contentType('note', Object.fromEntries(attributes.map((attribute) => [attribute, { type: 'string' }]))),
    ...(hasTags ? contentType('tag', { label: { type: 'string' } }) : {}),
  })

/** Requests of clients at instances, until it ends. */
interface Use {
  /** A client that reads the last notes, and one that writes notes with these values and a name. */
  begin(origin: string, label: string, values: Readonly<Record<string, string>>): void
  /** The names of notes that were acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The responses that were no success, as their status, the client and the message. */
  readonly refused: readonly string[]
  end(): Promise<void>
}

function openUse(token: string): Use {
  const acknowledged = new Set<string>()
  const refused: string[] = []
  const working: Promise<void>[] = []
  let isOver = false
  const note = (label: string, { status, body, headers }: TestResponse): void => {
    const isForNow = status === 503 && headers.get('retry-after') !== null
    refused.push(`${isForNow ? 'later' : status} ${label}: ${body.error.message}`)
  }

  const failed = (error: Error): void => void refused.push(`${error.message} (${String(error.cause)})`)

  async function read(origin: string, label: string): Promise<void> {
    while (!isOver) {
      const answer = await requestAt(origin, '/api/notes?sort=id:desc&pagination[pageSize]=20', { token })
      if (answer.status !== 200) note(`${label} reads`, answer)
      else if (answer.body.data.some((row: Record<string, unknown>) => typeof (row.name ?? row.title) !== 'string')) refused.push('no name')
      await pause(5)
    }
  }
  async function write(origin: string, label: string, values: Readonly<Record<string, string>>): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const data = { name: `${label} ${count}`, ...values }
      const answer = await requestAt(origin, '/api/notes', { method: 'POST', token, headers: json, body: JSON.stringify({ data }) })
      if (answer.status === 201) {
        expect(answer.body.data).toMatchObject(data)
        acknowledged.add(data.name)
      } else note(label, answer)
      await pause(5)
    }
  }

  return {
    begin: (origin, label, values) =>
      void working.push(...[read(origin, label), write(origin, label, values)].map((work) => work.catch(failed))),
    acknowledged,
    refused,
    end: async () => {
      isOver = true
      await Promise.all(working)
    },
  }
}

describePostgres('a rolling deployment', (server) => {
  /** A database, and what starts instances on it. */
  async function prepare() {
    const url = await server().createDatabase()
    const environment = { ...secrets, ...environmentOf(url) }
    const names = async (column: string): Promise<readonly string[]> =>
      (await runStatement(url, `select ${column} as name from notes`, [])).map(({ name }) => String(name))
    const started = async (folder: string): Promise<{ readonly child: Child; readonly origin: string }> => {
      const child = run(folder, environment)
      return { child, origin: await child.origin }
    }
    return { environment, names, started }
  }
  const tokenOf = async (folder: string, environment: Readonly<Record<string, string>>): Promise<string> => {
    const made = await octavo(['tokens', 'create', folder, '--name', 'all', '--type', 'full-access'], environment)
    expect(made.status, made.err).toBe(0)
    return made.out.trim()
  }
  /** The same with an instance of the former files, which is read and written. */
  async function oldInUse() {
    const prepared = await prepare()
    const before = deployment(['name', 'size'])
    const old = await prepared.started(before)
    const token = await tokenOf(before, prepared.environment)
    const use = openUse(token)
    use.begin(old.origin, 'old', { size: 'wide' })
    return { ...prepared, before, old, token, use }
  }
  /** Waits until `more` further writes are acknowledged. */
  const goOn = async (use: Use, more = 30): Promise<void> => {
    const before = use.acknowledged.size
    await vi.waitFor(() => expect(use.acknowledged.size).toBeGreaterThan(before + more), patience)
  }

  rule(
    'instances.14',
    'R33 a deployment that only adds is harmless, and a restarted instance of the former one reverts nothing',
    async () => {
      const { names, started, before, old, token, use } = await oldInUse()
      await goOn(use)
      // The files of the old one cannot be written, as in a container.
      mkdirSync(join(before, 'src/api/note/content-types/note/schema.json.octavo-new'))
      // Two start at once with the same new files.
      const after = ['name', 'size', 'colour']
      const [first, second] = await Promise.all([started(deployment(after, true)), started(deployment(after, true))])
      // Before anybody has written a colour: nothing would be hidden without it.
      const restarted = await started(deployment(['name', 'size']))
      expect(restarted.child.output()).toContain('the schema files are older than the model of the database')
      use.begin(first.origin, 'new', { size: 'wide', colour: 'red' })
      use.begin(restarted.origin, 'restarted', { size: 'wide' })
      await goOn(use)
      const later = await started(deployment([...after, 'weight'], true))
      use.begin(later.origin, 'later', { colour: 'red', weight: 'light' })
      await goOn(use)
      for (const { origin } of [old, first, second, restarted, later]) {
        const answer = await requestAt(origin, '/api/notes?filters[weight]=light&fields=name,size,colour,weight', { token })
        expect(answer.status, answer.text).toBe(200)
        expect(answer.body.data[0]).toMatchObject({ size: null, colour: 'red', weight: 'light' })
        expect((await requestAt(origin, '/api/tags', { token })).status).toBe(200)
      }
      await use.end()
      expect(use.refused).toEqual([])
      const stored = new Set(await names('name'))
      expect([...use.acknowledged].filter((name) => !stored.has(name))).toEqual([])
    },
  )

  rule('instances.15', 'R33 one that removes or renames does not start; a command does it, under load, and nothing is lost', async () => {
    const { environment, names, started, old, token, use } = await oldInUse()
    use.begin(old.origin, 'careful', {})
    await goOn(use)
    const without = deployment(['name'])
    const refused = await octavo(['start', without], environment)
    expect([refused.status, refused.err]).toEqual([1, expect.stringContaining(' model apply --agree api::note.note.size')])
    await goOn(use)
    expect(use.refused).toEqual([])
    const removed = await octavo(['model', 'apply', without, '--agree', 'api::note.note.size'], environment)
    expect(removed.status, removed.err).toBe(0)
    await vi.waitFor(() => expect(use.refused).toContain('400 old: Invalid key size'), patience)
    await goOn(use)
    const next = await started(without)
    use.begin(next.origin, 'next', {})
    await goOn(use)
    // A write during the move of content must be sent again; one that names the attribute is an error. Nothing else is refused.
    const isExpected = (one: string) => /^later (?:old|careful|next): /.test(one) || one === '400 old: Invalid key size'
    expect(use.refused.filter((one) => !isExpected(one))).toEqual([])
    await use.end()
    const renamed = await octavo(['model', 'apply', deployment(['title']), '--rename', 'api::note.note.name=title'], environment)
    expect(renamed.status, renamed.err).toBe(0)
    for (const { origin } of [old, next]) {
      const answer = await requestAt(origin, '/api/notes?fields=title&pagination[pageSize]=1', { token })
      expect([answer.status, typeof answer.body.data[0].title]).toEqual([200, 'string'])
    }
    const stored = new Set(await names('title'))
    expect([...use.acknowledged].filter((name) => !stored.has(name))).toEqual([])
    // A start with the former files, which would hide data, fails too.
    const restarted = await octavo(['start', deployment(['name', 'size'])], environment)
    expect([restarted.status, restarted.err]).toEqual([1, expect.stringContaining('content would no longer be shown')])
  })
})
