// A database that a service has open applies a change: its statements, column lists and commit counters match the new tables.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, expect, it } from 'vitest'
import { getDriver } from '../../src/database/open.js'
import { loadConfig } from '../../src/foundation/config/config.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import { loadModel } from '../../src/model/schema/load.js'
import { modelAfter, recordedChanges, unpackProject } from '../model-plans/recorded.js'
import { copyRows, workOf } from './model-work.js'
import { describeServers, environmentOf } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-database-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })
const secrets = { API_TOKEN_SALT: 'a salt that is long enough', JWT_SECRET: 'a secret that is long enough' }

describeServers('the database of a service', (server, kind) => {
  it('model-plans.20: executes statements that were prepared for the former types of columns', async () => {
    const url = await server().createDatabase()
    await copyRows(join(project, 'content.db'), url, from)
    const config = await loadConfig(project, { ...process.env, ...secrets, ...environmentOf(url) })
    const database = await (await getDriver(config)).open(config, from, {
      logger: pino({ level: 'silent' }),
      signing: null,
      fill: async () => {},
    })
    try {
      const amountOf = (amount: unknown) =>
        database.main.rows<{ amount: unknown }>(sql`select amount from notes where amount = ${amount} or amount is null order by id`)
      const often = (amount: unknown) => Promise.all(Array.from({ length: 8 }, () => amountOf(amount)))
      const [text] = (await server().run(url, "select amount from notes where amount in ('12', '7', '42') limit 1")) as { amount: string }[]
      for (const rows of await often(text!.amount)) expect(rows.length).toBeGreaterThan(0)
      await often(text!.amount)
      await database.main.changed()
      const change = recordedChanges.find(({ name }) => name === 'retype-amount-string-to-biginteger')!
      const to = await modelAfter({ ...change, name: `${change.name} ${kind.client}` }, project, folder)
      const { steps } = planModelChange(from, to, [])
      expect(await database.applyChange(workOf(steps, to))).toBe(true)
      expect(await database.main.changed()).toBe(true)
      for (const rows of await often(Number(text!.amount))) expect(rows).toContainEqual({ amount: Number(text!.amount) })
      expect(await database.applyChange(workOf(steps, to))).toBe(false)
    } finally {
      await database.close()
    }
  })
})
