// kill -9 at the steps of every kind of change of the model (live-model.9): the next start ends with the former model or with the new one,
// with its files and its content. FAULTS=all takes every statement that does not only read, and every call on files. test/servers has the
// same on servers.
import { afterAll, beforeAll, describe, test } from 'vitest'
import { removeProject } from '../live-model/changing-project.js'
import { copyOf, countedKills, type KillFixture, killAtSteps, kindsInOneTransaction, newBase } from './killed-changes.js'

let base: string
const kills: Record<string, number> = {}

beforeAll(() => {
  base = newBase()
})
afterAll(() => {
  removeProject(base)
  console.log(countedKills('SQLite', kills))
})

async function newGround(): Promise<KillFixture> {
  const copy = copyOf(base)
  return { ...copy, environment: {}, isAtomic: true, start: () => copy.start({}), remove: async () => copy.remove() }
}

describe.concurrent('live-model.9: killed at any step of a change, the model is the former one or the new one', () => {
  test.each(kindsInOneTransaction)('%s', async (name) => {
    const fixture = await newGround()
    try {
      kills[name] = await killAtSteps(fixture, name)
    } finally {
      await fixture.remove()
    }
  })
})
