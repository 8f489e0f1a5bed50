// Eviction among bodies and responses: the oldest of the address that holds most is chosen without a scan of all.
import { afterEach, expect, test, vi } from 'vitest'
import { createBodyBudget, createClientMemory } from '../../src/http/memory-budgets.js'
import { threadCpuMs } from '../support/cpu-time.js'

afterEach(() => {
  vi.useRealTimers()
})

interface Plain {
  readonly number: number
  readonly address: string
  readonly since: number
  bytes: number
}

/** The rule in its simplest form. */
function chosen(all: readonly Plain[], late: number, limit: number): number | undefined {
  const addresses = [...new Set(all.map(({ address }) => address))]
  const users = addresses.map((address) => {
    const own = all.filter((one) => one.address === address)
    return { oldest: own[0]!, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
  const most = Math.max(...users.map(({ bytes }) => bytes))
  const user = users.find(({ bytes }) => bytes === most)
  if (user === undefined || user.bytes <= limit / users.length) return undefined
  return users.length === 1 && user.oldest.since >= late ? undefined : user.oldest.number
}

test('the oldest entry of the address that holds most is evicted, regardless of the history', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const lent = createClientMemory(1_000)
  let all: Plain[] = []
  let taken: number | undefined
  const loans = new Map<number, ReturnType<typeof lent.lease>>()
  for (let number = 0; number < 8_000; number++) {
    const act = random(10)
    const one = all[random(all.length)]
    if (act < 4) {
      const address = `a${random(12)}`
      loans.set(
        number,
        lent.lease(address, () => {
          taken = number
        }),
      )
      all.push({ number, address, since: performance.now(), bytes: 0 })
    } else if (act < 7 && one !== undefined) {
      const bytes = 1 + random(3)
      one.bytes += bytes
      loans.get(one.number)!.add(bytes)
    } else if (act < 8 && one !== undefined) {
      loans.get(one.number)!.end()
      all = all.filter((other) => other !== one)
    } else if (act < 9) vi.advanceTimersByTime(random(400))
    else {
      const limit = random(80)
      const expected = chosen(all, performance.now() - 1_000, limit)
      taken = undefined
      expect(lent.revoke(limit)).toBe(expected !== undefined)
      expect(taken).toBe(expected)
      all = all.filter((other) => other.number !== expected)
      if (expected !== undefined) expect(loans.get(expected)!.isOpen()).toBe(false)
    }
    expect(lent.total()).toBe(all.reduce((sum, { bytes }) => sum + bytes, 0))
  }
})

test('an address with repeated requests gives way, and an address within its share never does', () => {
  const lent = createClientMemory(1_000)
  const revoked: string[] = []
  const hold = (address: string, bytes: number) => {
    const lease = lent.lease(address, () => revoked.push(address))
    lease.add(bytes)
    return lease
  }
  const steady = ['b', 'c', 'd'].map((address) => hold(address, 25))
  for (let round = 0; round < 50; round++) {
    hold('a', 20)
    while (lent.total() > 150) expect(lent.revoke(150)).toBe(true)
  }
  expect(new Set(revoked)).toEqual(new Set(['a']))
  expect(steady.every((lease) => lease.isOpen())).toBe(true)
  // Memory of an address is not reclaimed for its own next request.
  const alone = createClientMemory(1_000)
  for (let index = 0; index < 10; index++) alone.lease('a', () => {}).add(20)
  expect(alone.revoke(100)).toBe(false)
})

test.each([
  ['one address', () => 'a'],
  ['addresses of their own', (index: number) => `a${index}`],
])('ten thousand slow bodies of %s cost those that come next next to nothing', async (_whose, address) => {
  const bodies = createBodyBudget(100_000)
  let refused = 0
  const open = (index: number) => {
    const body = bodies.begin(address(index))
    body.refused.catch(() => refused++)
    return body
  }
  const tenThousand = () => {
    const before = threadCpuMs()
    for (let index = 0; index < 10_000; index++) open(index).add(10)
    return threadCpuMs() - before
  }
  const alone = tenThousand()
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const beside = tenThousand()
  await Promise.resolve()
  expect(refused).toBe(10_000)
  // When each of them walked through all, it was 2 s for one address and 10 s for many, where it should be as little as for the first.
  expect(beside / alone).toBeLessThan(40)
})
