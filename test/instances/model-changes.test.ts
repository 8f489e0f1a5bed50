// R31: two instances with separate folders change the model at once, or one does while another one starts. One change is applied after the
// other, no attribute is lost, and all end with the same model.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { describeInstances } from './databases.js'

const token = 'may-do-everything'
const text = { type: 'string' }
const schema = (name: string, attributes: readonly string[]) => ({
  kind: 'collectionType',
  collectionName: `${name}s`,
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  options: { draftAndPublish: false },
  attributes: Object.fromEntries(attributes.map((attribute) => [attribute, text])),
})

describeInstances('R31 changes of the model by several instances', (database) => {
  const folders: string[] = []
  let environment: Readonly<Record<string, string>>
  let first: Served
  let second: Served
  /** The attributes of notes so far. */
  let attributes = ['title']

  beforeAll(async () => {
    const found = await database()
    first = await serveProject(
      { 'src/api/note/content-types/note/schema.json': schema('note', attributes) },
      { environment: { ...secrets, ...found }, config: { admin: { model: 'always' } } },
    )
    environment = { ...secrets, ...first.sameDatabase, DATABASE_CLIENT: found.DATABASE_CLIENT! }
    await addToken(first, token, { type: 'full-access' })
    second = await serveExisting({ folder: copy() }, environment)
  })
  afterAll(async () => {
    await second.close()
    await first.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** The folder of the first instance as it is now. */
  function copy(): string {
    const folder = mkdtempSync(join(tmpdir(), 'octavo-instance-'))
    folders.push(folder)
    cpSync(first.folder, folder, { recursive: true, filter: (path) => !path.includes('.tmp') })
    return folder
  }
  const change = (at: Served, data: object, version?: string): Promise<TestResponse> =>
    at.request('/api/content-type-builder/schemas', {
      ...{ method: 'PUT', token, body: JSON.stringify({ data, ...(version === undefined ? {} : { version }) }) },
      headers: { 'content-type': 'application/json' },
    })
  const noteWith = (names: readonly string[]) => ({ 'api::note.note': schema('note', names) })
  /** Version of the model that serves the next request. */
  async function versionAt(at: Served): Promise<string> {
    expect((await at.request('/api/notes', { token })).status).toBe(200)
    return at.service.model.version
  }
  /** Everything that has changed is at every instance. */
  async function expectSameModel(...instances: readonly Served[]): Promise<void> {
    for (const at of instances) {
      const answer = await at.request(`/api/notes?fields=${attributes.join()}`, { token })
      expect(answer.status, answer.text).toBe(200)
    }
    expect(new Set(await Promise.all(instances.map(versionAt))).size).toBe(1)
  }

  rule(
    'live-model.7',
    'R31 the same content-type at once: one change is applied, the other is 409 or 412, and comes after it',
    async () => {
      for (let round = 0; round < 5; round++) {
        const version = await versionAt(first)
        const [one, two] = [`one${round}`, `two${round}`]
        const answers = await Promise.all([
          change(first, noteWith([...attributes, one]), version),
          change(second, noteWith([...attributes, two]), version),
        ])
        const statuses = answers.map(({ status }) => status)
        expect(statuses.filter((status) => status === 200)).toHaveLength(1)
        expect([409, 412]).toContain(Math.max(...statuses))
        const [made, refused, slower] = statuses[0] === 200 ? ([one, two, second] as const) : ([two, one, first] as const)
        attributes = [...attributes, made]
        await expectSameModel(first, second)
        const again = await change(slower, noteWith([...attributes, refused]), await versionAt(slower))
        expect(again.status, again.text).toBe(200)
        attributes = [...attributes, refused]
        await expectSameModel(first, second)
      }
    },
  )

  rule('live-model.7', 'R31 different types at once: both are there when each was accepted', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `kind-${index}`)
    await Promise.all(
      names.map(async (name, index) => {
        for (;;) {
          const { status, text: said } = await change([first, second][index % 2]!, { [`api::${name}.${name}`]: schema(name, ['label']) })
          if (status === 200) return
          expect(status, said).toBe(409)
        }
      }),
    )
    for (const at of [first, second]) for (const name of names) expect((await at.request(`/api/${name}s`, { token })).status).toBe(200)
    await expectSameModel(first, second)
  })

  rule('live-model.8', 'R31 a change while another instance starts is in force there with its first response', async () => {
    // From a change before the start reads anything to one that comes when it nearly listens.
    for (let round = 0; round < 10; round++) {
      const added = `late${round}`
      const folder = copy()
      const changing = pause(round * 15).then(() => change(first, noteWith([...attributes, added])))
      const third = await serveExisting({ folder }, environment)
      try {
        const made = await changing
        expect(made.status, made.text).toBe(200)
        attributes = [...attributes, added]
        await expectSameModel(third, first, second)
      } finally {
        await third.close()
      }
    }
  })
})
