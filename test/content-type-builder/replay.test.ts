// Replays Strapi's changes of a model and its refusals: the same files, the same responses. Intended differences have a reason.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { updateSchema } from '../../src/model/builder/update-schema.js'
import { differentChanges, differentRefusals } from './differences.js'
import { isUpdateSchema, isWrite, projectFiles, recordings, schemasOf } from './recorded-project.js'

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly status: number
  readonly answer: unknown
}
interface RecordedChange {
  readonly name: string
  readonly prepare?: readonly { readonly edit?: string; readonly path?: string }[]
  readonly filesBefore: Readonly<Record<string, string>>
  readonly steps: readonly (Request | { readonly method?: undefined })[]
  readonly filesAfter?: Readonly<Record<string, string>>
  readonly filesDeleted?: readonly string[]
}
interface RecordedRefusal extends Request {
  readonly name: string
  readonly as?: string
  readonly autoReload?: boolean
  readonly refused: boolean
  readonly filesTouched?: Readonly<Record<string, string>>
}

const project = await projectFiles()
const requestsIn = ({ steps }: RecordedChange) => steps.filter((step): step is Request => isWrite(step))

test('every difference is a rule of docs/spec', () => {
  const rules = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'spec', 'content-type-builder.md'), 'utf8')
  const cited = [...differentChanges.values(), ...differentRefusals.values()]
  expect(cited.filter((rule) => !rules.includes(`**${rule}**`))).toEqual([])
})

describe('changes', () => {
  // A second request before the restart starts from the old model in Strapi, and from the new one here.
  const recorded = recordings<RecordedChange>('changes.jsonl.gz').filter(
    (change) => requestsIn(change).length > 0 && requestsIn(change).every(isUpdateSchema),
  )

  test.each(recorded.map((change) => [change.name, change] as const))('%s', (name, change) => {
    const found = replay(filesBefore(change), change)
    const expected = expectedAfter(filesBefore(change), change)
    if (differentChanges.has(name)) expect(found).not.toEqual(expected)
    else expect(found).toEqual(expected)
  })

  function filesBefore({ prepare = [], filesBefore }: RecordedChange) {
    const created = prepare.filter(({ edit }) => edit === 'file created').map(({ path }): [string, string] => [path!, ''])
    return new Map([...project, ...created, ...Object.entries(filesBefore)])
  }

  function replay(files: Map<string, string>, change: RecordedChange) {
    let deleted: readonly string[] = []
    const answers = requestsIn(change).map((step) => {
      const result = updateSchema(schemasOf(files), step.body)
      if (result.kind === 'change') {
        deleted = result.deleted
        for (const path of deleted) files.delete(path)
        for (const [path, text] of result.files) files.set(path, text)
      }
      return { status: result.status, body: result.body }
    })
    return { answers, deleted, files: Object.fromEntries([...files].sort()) }
  }

  function expectedAfter(files: Map<string, string>, change: RecordedChange) {
    const { filesAfter = {}, filesDeleted = [] } = change
    for (const path of filesDeleted) files.delete(path)
    for (const [path, text] of Object.entries(filesAfter)) files.set(path, text)
    return {
      answers: requestsIn(change).map(({ status, answer }) => ({ status, body: answer })),
      deleted: filesDeleted,
      files: Object.fromEntries([...files].sort()),
    }
  }
})

describe('refusals', () => {
  // Callers are checked before the builder. The second file has unusual values of every key, and several errors at once.
  const recorded = ['refusals.jsonl.gz', 'builder-forms.jsonl.gz']
    .flatMap(recordings<RecordedRefusal>)
    .filter((request) => request.as === undefined && request.autoReload === undefined && isUpdateSchema(request))

  test.each(recorded.map((request) => [request.name, request] as const))('%s', (name, request) => {
    const result = updateSchema(schemasOf(project), request.body)
    const found = { status: result.status, body: result.body, files: result.kind === 'change' ? Object.fromEntries(result.files) : {} }
    const touched = Object.entries(request.filesTouched ?? {}).filter(([path]) => !path.endsWith('/'))
    const expected = { status: request.status, body: request.answer, files: Object.fromEntries(touched) }
    if (differentRefusals.has(name)) expect(found).not.toEqual(expected)
    else expect(found).toEqual(expected)
  })
})
