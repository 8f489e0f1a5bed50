// The project that changes of a model were recorded on, served so that its model may change: changes with the required agreement, and
// all content as the API shows it.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { RequestOptions, TestResponse } from '../support/serve.js'

const archive = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'model', 'project.tar.gz')

/** A full-access token of the project. */
export const token = 'lab-full-token'

/** Unpacks the project into a temporary folder; returns its folder. */
export function newProject(): string {
  // Strapi looks for its providers below a path in small letters.
  const folder = join(tmpdir(), `octavo-recorded-${randomUUID()}`)
  mkdirSync(folder)
  execFileSync('tar', ['xzf', archive, '-C', folder])
  const project = join(folder, 'project')
  writeFileSync(join(project, 'octavo.config.json'), JSON.stringify({ admin: { model: 'always' } }))
  return project
}

export const removeProject = (project: string): void => rmSync(dirname(project), { recursive: true, force: true })

/** A service, in this process or in another. */
export interface Requester {
  request(path: string, asked?: RequestOptions): Promise<TestResponse>
}

/** A request. */
export interface Step {
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
}

/** Sends a request, `agree`: names of what may be hidden. */
export async function send(served: Requester, { method, path, body }: Step, agree: readonly string[] = []): Promise<TestResponse> {
  const headers = {
    ...(agree.length === 0 ? {} : { 'octavo-agree': agree.join(',') }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return served.request(path!, { method: method!, token, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

/** The content that a refused change would hide. */
export const lossesIn = ({ body }: TestResponse): readonly string[] =>
  ((body?.error?.details?.losses ?? []) as readonly { readonly name: string }[]).map(({ name }) => name)

/** Sends a change, and agrees to hide content. */
export async function agreed(served: Requester, step: Step): Promise<TestResponse> {
  const answer = await send(served, step)
  const losses = lossesIn(answer)
  return losses.length === 0 ? answer : send(served, step, losses)
}

/** Undoes the last change, and agrees to hide content. */
export async function undo(served: Requester): Promise<void> {
  const changes = (await served.request('/api/content-type-builder/changes', { token })).body.data
  const answer = await agreed(served, {
    method: 'POST',
    path: '/api/content-type-builder/undo',
    body: { data: { change: changes.at(-1).id } },
  })
  expect(answer.status, answer.text).toBe(200)
}

/** The schemas as the API shows them. */
export const modelOf = async (served: Requester): Promise<string> =>
  (await served.request('/api/content-type-builder/content-types', { token })).text +
  (await served.request('/api/content-type-builder/components', { token })).text

/** All content as the API shows it, without row ids, which are assigned again. */
export async function contentOf(served: Requester): Promise<unknown> {
  const content: Record<string, unknown> = {}
  for (const { uid, schema } of (await served.request('/api/content-type-builder/content-types', { token })).body.data) {
    if (!uid.startsWith('api::')) continue
    const name = schema.kind === 'singleType' ? schema.singularName : schema.pluralName
    for (const status of ['draft', 'published']) {
      const answer = await served.request(`/api/${name}?populate=*&locale=*&status=${status}&sort=documentId&pagination[pageSize]=100`, {
        token,
      })
      content[`${name} ${status}`] = answer.body.data
    }
  }
  return JSON.parse(JSON.stringify(content, (key, value) => (key === 'id' || key === 'updatedAt' ? undefined : value)))
}
