// Many random changes of the model while readers and writers go on: no response fails or is wrong, content that a change does not touch
// stays, and undoing restores the former state. `CHANGES_SEED=3 CHANGES=400` for other ones and more.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chances } from '../documents/chances.js'
import { addGerman, addToken, secrets } from '../spec/callers.js'
import { isOnServer } from '../support/databases.js'
import { removeProject, type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { type Content, contentOf, expectedAfter, fill, foundAfter, type Send } from './content-of.js'
import { randomChange } from './random-change.js'
import { type RandomModel, requestOf, schemasOf } from './random-model.js'
import { keepCompany } from './readers-and-writers.js'

const seed = Number(process.env.CHANGES_SEED ?? 1)
const changes = Number(process.env.CHANGES ?? (isOnServer ? 30 : 100))
/** Milliseconds after which no other change begins. */
const patience = Number(process.env.CHANGES_PATIENCE ?? 60_000)
const token = 'may-do-everything'
const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')

const type = (attributes: object) => ({
  drafts: false,
  localized: false,
  attributes: attributes as RandomModel['types'][string]['attributes'],
})
const fixedLink = { from: 'base', inverse: null, isFixed: true }
/** The model at the start: types of readers and writers, and unused ones. */
const first: RandomModel = {
  types: {
    base: { table: 'bases', ...type({ label: { type: 'string' }, count: { type: 'integer' } }) },
    anchor: { table: 'anchors', ...type({ red: { type: 'string' } }) },
    apple: { table: 'apples', ...type({ green: { type: 'string' } }) },
  },
  links: [
    { ...fixedLink, name: 'anchor', to: 'anchor', kind: 'manyToOne' },
    { ...fixedLink, name: 'anchors', to: 'anchor', kind: 'manyToMany' },
  ],
}

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql('UPDATE strapi_api_tokens SET document_id = ?', 'token')
  await addGerman(served)
})
afterAll(async () => {
  await served.service.close()
  await removeProject(served.folder)
})

const sender =
  (at: Served): Send =>
  (method, path, body) =>
    at.request(path, {
      method,
      token,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })

/** Sends a change, and agrees to hide content. No other refusal is allowed. */
async function changed(method: string, path: string, body: object, what: string): Promise<TestResponse> {
  const request = (headers: Record<string, string>) =>
    served.request(`/api/content-type-builder/${path}`, { method, token, body: JSON.stringify(body), headers })
  const headers = { 'content-type': 'application/json' }
  let answer = await request(headers)
  const losses = answer.body?.error?.details?.losses as { readonly name: string }[] | undefined
  if (losses !== undefined) answer = await request({ ...headers, 'octavo-agree': losses.map(({ name }) => name).join(',') })
  expect(answer.status, `${what}: ${answer.text}`).toBe(200)
  return answer
}

/** A change that an undo reverts completely, because nothing was written since. */
interface Undoable {
  readonly model: RandomModel
  readonly content: Content
}

test(`${changes} changes of the seed ${seed}`, async () => {
  const done: string[] = []
  const history = () => done.slice(-5).join('; ')
  const [by, send] = [chances(seed), sender(served)]
  const end = performance.now() + patience
  let model = first
  await changed('PUT', 'schemas', { data: schemasOf(model) }, 'the first model')
  const anchors: string[] = []
  for (let number = 0; number < 5; number++) anchors.push((await send('POST', '/api/anchors', { data: { number } })).body.data.documentId)
  const company = keepCompany({ served, token, by: chances(seed + 1), anchors, model: () => model, history })
  let undoable: Undoable | null = null
  let number = anchors.length
  let wrong: readonly string[] = []
  try {
    for (let turn = 0; turn < changes && performance.now() < end; turn++) {
      if (undoable !== null && by.is(0.4)) {
        const { model: former, content }: Undoable = undoable
        undoable = null
        done.push('undo')
        await changed('POST', 'undo', {}, history())
        model = former
        expect(await contentOf(send, model), history()).toEqual(content)
        continue
      }
      const content = await contentOf(send, model)
      const change = randomChange(model, by)
      done.push(change.what)
      await changed('PUT', 'schemas', requestOf(model, change), history())
      undoable = { model, content }
      const expected = expectedAfter(content, model, change)
      model = change.model
      const after = await contentOf(send, model)
      expect(foundAfter(after, expected), history()).toEqual(expected)
      if (by.is(0.5)) continue
      undoable = null
      for (let writes = 0; writes < 5; writes++) {
        const answer = await fill(send, model, after, by, number++)
        expect(answer.status, `${history()}: ${answer.text}`).toBeLessThan(300)
      }
    }
  } finally {
    wrong = await company.end()
  }
  expect(wrong).toEqual([])
  console.log(
    `seed ${seed}: ${done.filter((what) => what === 'undo').length} of ${done.length} changes undone, ${company.requests()} requests beside`,
  )
  expect(company.requests()).toBeGreaterThan(done.length)
  await checkAfterwards(await contentOf(send, model), model)
})

interface Check {
  readonly name: string
  readonly verdict: string
}

/** The doctor finds nothing wrong, and a second start has the same content. */
async function checkAfterwards(content: Content, model: RandomModel): Promise<void> {
  await served.service.close()
  const env = { ...process.env, ...secrets, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
  const ended = promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env })
  const { stdout } = await ended.catch((error: { readonly stdout: string }) => error)
  expect((JSON.parse(stdout).checks as readonly Check[]).filter(({ verdict }) => verdict === 'wrong')).toEqual([])
  const again = await serveExisting(served, secrets)
  try {
    expect(await contentOf(sender(again), model)).toEqual(content)
  } finally {
    await again.close()
  }
}
