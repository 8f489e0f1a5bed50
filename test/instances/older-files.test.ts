// Services on one SQLite file whose folders have the schema files of different deployments, in production, where the model is locked.
import { join } from 'node:path'
import { afterAll, afterEach, expect } from 'vitest'
import { secrets } from '../spec/callers.js'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting } from '../support/serve.js'

const served: Served[] = []
afterEach(async () => {
  for (const each of served.splice(0).reverse()) await each.close()
})
afterAll(removeProjects)

const text = { type: 'string' }

/** A deployment: the project with these attributes of notes. */
const deployment = (attributes: Readonly<Record<string, object>>): string =>
  project({
    ...contentType('note', attributes),
    ...seeded('note', plain({ first: { name: 'first', code: 'secret' } })),
    ...access(reading('note')),
  })

/** A database, and what starts services on it. */
function prepare() {
  const environment = { ...secrets, DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(project({}), 'data.db') }
  const start = async (folder: string): Promise<Served> => {
    const one = await serveExisting({ folder }, environment)
    served.push(one)
    return one
  }
  return { environment, start }
}

const firstNote = async ({ request }: Served): Promise<Readonly<Record<string, unknown>>> => {
  const answer = await request('/api/notes')
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data[0]
}

rule('instances.14', 'a deployment that goes back to private attributes hides them again', async () => {
  const { start } = prepare()
  const before = { name: text, code: { ...text, private: true } }
  expect(await firstNote(await start(deployment(before)))).not.toHaveProperty('code')
  const newer = await start(deployment({ name: text, code: text, size: text }))
  expect(await firstNote(newer)).toHaveProperty('code', 'secret')
  const back = await start(deployment(before))
  for (const one of [back, newer]) expect(await firstNote(one)).not.toHaveProperty('code')
  expect(back.log.join()).not.toContain('older than the model')
})

rule('instances.14', 'an older deployment that starts again serves additions, and a command reverts them', async () => {
  const { environment, start } = prepare()
  const older = deployment({ name: text, code: text })
  await start(older)
  const newer = await start(deployment({ size: text, name: text, code: text }))
  const again = await start(older)
  expect(again.log.join()).toContain('older than the model')
  for (const one of [again, newer]) expect(await firstNote(one)).toMatchObject({ code: 'secret', size: null })
  const applied = await octavo(['model', 'apply', older], environment)
  expect(applied.status, applied.err).toBe(0)
  for (const one of [again, newer]) expect(await firstNote(one)).not.toHaveProperty('size')
})
