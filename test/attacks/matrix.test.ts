// Every route, every verb, every caller (security: S032): responses are exactly those that roles and tokens allow.
import { expect, test } from 'vitest'
import type { Caller } from './fixture.js'
import { attackFixture, callers, model } from './fixture.js'
import type { Place, Verb } from './routes.js'
import { grantsIn, places, refusedCallers, registered, tabled, verbs } from './routes.js'

const golden = attackFixture('strapi', { config: { admin: { model: 'always' }, limits: { authRateLimit: 0 } } })

/** `in`: the caller is admitted, regardless of the route's own result. */
type Class = 'in' | 200 | 401 | 403 | 404 | 405

function classOf(status: number): Class {
  return ([401, 403, 405] as const).find((one) => one === status) ?? 'in'
}

function expected(place: Place, verb: Verb, caller: Caller, may: (caller: Caller, action: string) => boolean): Class {
  const action = place.actions[verb === 'HEAD' ? 'GET' : verb]
  if (verb === 'OPTIONS') return 200
  if (action === undefined) return verb === 'GET' || verb === 'HEAD' ? 404 : 405
  if (refusedCallers.includes(caller)) return 401
  if (!may(caller, action)) return 403
  // Only users have an identity and sessions.
  return personal.test(action) && !users.includes(caller) ? 401 : 'in'
}

const personal = /\.(user\.me|auth\.(logout|getSessions|revokeSession))$/
const users: readonly Caller[] = ['alice', 'bob', 'dan']

test('S032 the table knows every route of the service, and no other', () => {
  expect([...registered].sort()).toEqual([...tabled].sort())
  expect(model.paths.size).toBeGreaterThan(15)
})

test('S032 permitted reads succeed', async () => {
  const may = await grantsIn(golden)
  for (const place of places()) {
    const action = place.actions.GET
    if (action === undefined) continue
    for (const as of ['public', 'bob', 'full'] as const) {
      if (!may(as, action)) continue
      const { status } = await golden.request(place.path, { as })
      const missing = /some-document|999999/.test(place.path)
        ? [204, 404]
        : /^\/(auth|connect)\//.test(place.path)
          ? [400, ...(personal.test(action) ? [401, 404] : [])]
          : [200, ...(action.endsWith('.me') ? [401] : []), ...(place.path === '/manifesto' ? [404] : [])]
      expect(missing, `${as}: GET ${place.path} is ${status}`).toContain(status)
    }
  }
})

test('S032 every caller gets exactly what the roles and tokens of the database allow', async () => {
  const may = await grantsIn(golden)
  const wrong: string[] = []
  let asked = 0
  for (const place of places()) {
    for (const verb of verbs) {
      const answers = await Promise.all(callers.map((as) => golden.request(place.path, { as, method: verb })))
      for (const [index, { status, text }] of answers.entries()) {
        const as = callers[index]!
        const wanted = expected(place, verb, as, may)
        const got = typeof wanted === 'number' && [200, 404].includes(wanted) ? status : classOf(status)
        // An admitted request may be 404, unimplemented or refused for its body, but never fails.
        const failed = status >= 500 && status !== 501
        if (got !== wanted || failed) wrong.push(`${as}: ${verb} ${place.path}: ${status} in place of ${wanted}`)
        if (verb === 'HEAD' && text !== '') wrong.push(`${as}: HEAD ${place.path} has a body`)
        asked++
      }
    }
  }
  expect(wrong).toEqual([])
  expect(asked).toBeGreaterThan(4000)
})
