// Replays Strapi's changes of a model and its refusals: the same files, the same answers. Cases that are meant to differ have a reason.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { changeSchemas } from '../../src/model/builder/change-schemas.js'
import { differentChanges, differentRefusals } from './differences.js'
import { projectFiles, recordings, schemasOf } from './recorded-project.js'

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
const isWrite = (step: { readonly method?: string | undefined; readonly path?: string }): step is Request =>
  step.method !== undefined && step.method !== 'GET' && step.path!.startsWith('/content-type-builder/')

test('every difference is a rule of docs/spec', () => {
  const rules = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'spec', 'content-type-builder.md'), 'utf8')
  const cited = [...differentChanges.values(), ...differentRefusals.values()]
  expect(cited.filter((rule) => !rules.includes(`**${rule}**`))).toEqual([])
})

describe('changes', () => {
  // A second request before the restart starts from the old model in Strapi, and from the new one here.
  const recorded = recordings<RecordedChange>('changes.jsonl.gz').filter(({ steps }) => steps.some(isWrite))

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

  function replay(files: Map<string, string>, { steps }: RecordedChange) {
    let deleted: readonly string[] = []
    const answers = steps.filter(isWrite).map((step) => {
      const result = changeSchemas(schemasOf(files), step)
      if (result.kind === 'change') {
        deleted = result.deleted
        for (const path of deleted) files.delete(path)
        for (const [path, text] of result.files) files.set(path, text)
      }
      return { status: result.status, body: result.body }
    })
    return { answers, deleted, files: Object.fromEntries([...files].sort()) }
  }

  function expectedAfter(files: Map<string, string>, { steps, filesAfter = {}, filesDeleted = [] }: RecordedChange) {
    for (const path of filesDeleted) files.delete(path)
    for (const [path, text] of Object.entries(filesAfter)) files.set(path, text)
    return {
      answers: steps.filter(isWrite).map(({ status, answer }) => ({ status, body: answer })),
      deleted: filesDeleted,
      files: Object.fromEntries([...files].sort()),
    }
  }
})

describe('refusals', () => {
  // Who may ask, and where, is decided before the builder. The second file has unusual values of every key, and several mistakes at once.
  const recorded = ['refusals.jsonl.gz', 'builder-forms.jsonl.gz']
    .flatMap(recordings<RecordedRefusal>)
    .filter((request) => request.as === undefined && request.autoReload === undefined && isWrite(request))

  test.each(recorded.map((request) => [request.name, request] as const))('%s', (name, request) => {
    const result = changeSchemas(schemasOf(project), request)
    const found = { status: result.status, body: result.body, files: result.kind === 'change' ? Object.fromEntries(result.files) : {} }
    const touched = Object.entries(request.filesTouched ?? {}).filter(([path]) => !path.endsWith('/'))
    const expected = { status: request.status, body: request.answer, files: Object.fromEntries(touched) }
    if (differentRefusals.has(name)) expect(found).not.toEqual(expected)
    else expect(found).toEqual(expected)
  })
})
