// Plans of reads, as recorded in plans/: a change of the compiler or of a dialect shows there.
// OCTAVO_ACCEPT=1 rewrites the files.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Dialect } from '../../src/database/dialect.js'
import { mysqlDialects } from '../../src/database/server/mysql/dialect.js'
import { postgresDialect } from '../../src/database/server/postgres/dialect.js'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { fullAccess, grantsOf } from '../../src/foundation/grants.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { compileRead } from '../../src/query/compile/compile.js'
import { contracts } from '../../src/query/contract.js'
import { parseParameters } from '../../src/query/request.js'
import { readRequest } from '../../src/query/rest/read.js'
import { goldenProject } from '../support/serve.js'
import { renderPlan } from './plans/render.js'
import { groups, type Recorded } from './plans/requests.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), 'plans')
const dialects: Readonly<Record<string, Dialect>> = { sqlite: sqliteDialect, postgres: postgresDialect, mysql: mysqlDialects.MariaDB }
const accepts = process.env.OCTAVO_ACCEPT === '1'

let model: Model
beforeAll(async () => {
  model = await loadModel({ folder: goldenProject })
})

/** A request and its plan, as in the files. */
function recordOf(dialect: Dialect, { name, uid, query, contract = 'specification', wanted, actions, draftGrant }: Recorded): string {
  const context = {
    ...{ model, contract: contracts[contract], defaultLocale: 'en', pages: { defaultLimit: 25, maxLimit: 100, withCount: true } },
    ...{ limits: { filterRelations: 8, queryComplexity: 1000 }, strictParams: false, draftGrant: draftGrant === true },
  }
  const grants = actions === undefined ? fullAccess : grantsOf('some', new Set(actions))
  const asked = { type: model.types.get(uid)!, mode: 'many', envelope: 'data', ...wanted } as const
  const request = readRequest(context, grants, asked, parseParameters(query))
  const about = [contract, ...(actions === undefined ? [] : [`may ${actions.join(', ')}`]), ...(draftGrant ? ['draftGrant'] : [])]
  const [start, limit, ...values] = request.values
  return [
    `== ${name}`,
    `${uid}${query === '' ? '' : `?${query}`}`,
    `(${about.join('; ')})`,
    `values: start ${start}, limit ${limit}${values.map((value, index) => `, ${index + 2} ${JSON.stringify(value)}`).join('')}`,
    renderPlan(compileRead(request, dialect, context.contract, asked.envelope)),
    '',
  ].join('\n')
}

describe.each(Object.keys(dialects))('the plans for %s', (dialect) => {
  const files = Object.keys(groups)
  const pathOf = (group: string) => join(folder, dialect, `${group}.txt`)
  const stored = (group: string) => (existsSync(pathOf(group)) ? readFileSync(pathOf(group), 'utf8').split(/^(?=== )/m) : [])

  describe.each(files)('%s', (group) => {
    const requests = groups[group]!
    if (accepts) {
      test('are rewritten', () => {
        mkdirSync(join(folder, dialect), { recursive: true })
        writeFileSync(pathOf(group), requests.map((request) => recordOf(dialects[dialect]!, request)).join('\n'))
      })
      return
    }
    test.each(requests.map((request, index) => [request.name, request, index] as const))('%s', (_, request, index) => {
      expect(`${recordOf(dialects[dialect]!, request).trimEnd()}\n`).toBe(`${(stored(group)[index] ?? '').trimEnd()}\n`)
    })

    test('holds nothing else', () => {
      expect(stored(group).map((text) => text.split('\n')[0])).toEqual(requests.map(({ name }) => `== ${name}`))
    })
  })

  test('no other file is there', () => {
    expect(readdirSync(join(folder, dialect)).sort()).toEqual(files.map((group) => `${group}.txt`).sort())
  })
})
