// kill -9 at the statements of every kind of change of the model on database servers, and at its calls on files (live-model.9, model-plans.19,
// model-plans.22): the next start ends with the former model or with the new one. FAULTS=all takes every statement that does not
// only read, and every call.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import {
  copyOf,
  countedKills,
  databaseOf,
  type KillFixture,
  killAtSteps,
  kinds,
  kindsInOneTransaction,
  newBase,
  type Point,
} from '../faults/killed-changes.js'
import { committing, isReading, recording } from '../faults/statement-kinds.mjs'
import { removeProject } from '../live-model/changing-project.js'
import type { ClientMessage } from './messages.js'
import { cloneOf, copyRows } from './model-work.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { describeServers, environmentOf, type TestServer } from './server.js'

/** Reads what the clients of a way have executed. On PostgreSQL a statement has its text where it is prepared, and a name later. */
function openReading(way: Way): (executed: (text: string, link: Link) => void) => void {
  const named = new WeakMap<Link, Map<string, string>>()
  const bound = new WeakMap<Link, string>()
  let told: (text: string, link: Link) => void = () => {}
  way.watch = ({ type, text }: ClientMessage, link) => {
    const statements = named.get(link) ?? new Map<string, string>()
    named.set(link, statements)
    const [first, second] = text.split('\0', 2) as [string, string]
    if (type === 'P') statements.set(first, second)
    if (type === 'B') bound.set(link, statements.get(second) ?? '')
    if (type === 'Q') told(first, link)
    if (type === 'E') told(bound.get(link)!, link)
  }
  return (executed) => {
    told = executed
  }
}

/** A copy of the project with a copy of its database; the service reaches it through a proxy. */
async function newGround(server: TestServer, base: string, database: string): Promise<KillFixture> {
  const copy = copyOf(base)
  const url = await cloneOf(server, database)
  const way = await openProxy(url)
  const watch = openReading(way)
  let statements: string[] = []
  return {
    ...copy,
    environment: environmentOf(url),
    isAtomic: server.client === 'postgres',
    start: () => copy.start(environmentOf(way.url)),
    arm: (point: Point | null, { child }) => {
      const executed: string[] = []
      let [writes, since, commit] = [0, 0, 0]
      let recorder: Link | null = null
      statements = executed
      watch((text, link) => {
        executed.push(text.slice(0, 200))
        if (recording.test(text)) recorder = link
        const isWrite = !isReading(text)
        const isSince = since > 0 || recording.test(text)
        const isCommit = link === recorder && committing.test(text)
        const reached = {
          writes: isWrite ? ++writes : 0,
          record: isSince ? ++since : 0,
          commit: isCommit ? ++commit : 0,
          files: 0,
        }
        if (point === null || reached[point.of] !== point.n) return
        child.process.kill('SIGKILL')
        if (point.isDone) link.mute()
        else link.cut()
      })
      copy.arm(point)
    },
    disarm: () => {
      watch(() => {})
      return { statements, files: copy.disarm().files }
    },
    remove: async () => {
      copy.remove()
      await way.close()
      await server.removeDatabase(url)
    },
  }
}

describeServers('killed at any step of a change', (server, kind) => {
  let base: string
  let database: string
  const kills: Record<string, number> = {}

  beforeAll(async () => {
    base = newBase()
    database = await server().createDatabase()
    await copyRows(databaseOf(base), database, await loadModel({ folder: base }))
  })
  afterAll(() => {
    removeProject(base)
    console.log(countedKills(kind.name, kills))
  })

  const rules = kind.client === 'mysql' ? 'live-model.9, model-plans.22' : 'live-model.9, model-plans.19'
  test.concurrent.each(kind.client === 'postgres' ? kindsInOneTransaction : Object.keys(kinds))(
    `${rules}: the model is the former one or the new one: %s`,
    async (name) => {
      const ground = await newGround(server(), base, database)
      try {
        kills[name] = await killAtSteps(ground, name)
        expect(kills[name]).toBeGreaterThan(0)
      } finally {
        await ground.remove()
      }
    },
  )
})
