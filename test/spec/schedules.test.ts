// Schedules: which process runs them, when, and what happens when they are slow, fail, or are interrupted.
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { Schedule, ScheduleCall } from '../../src/foundation/public/schedules.js'
import { rule } from '../support/rule.js'
import { type Served, type ServeOptions, serveExisting, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

const city = 'api::city.city'
const files = {
  'src/api/city/content-types/city/schema.json': {
    kind: 'collectionType',
    collectionName: 'cities',
    info: { singularName: 'city', pluralName: 'cities', displayName: 'City' },
    options: { draftAndPublish: false },
    attributes: { name: { type: 'string', required: true } },
  },
}

let opened: Served[] = []
afterEach(async () => {
  // The first one removes the project.
  for (const served of opened.toReversed()) await served.close()
  opened = []
})

async function serve(schedules: readonly Schedule[], limits: object = {}): Promise<Served> {
  const served = await serveProject(files, { config: { limits }, code: { schedules } })
  opened.push(served)
  return served
}
async function beside(other: Served, code: ServeOptions['code']): Promise<Served> {
  const served = await serveExisting(other, {}, code)
  opened.push(served)
  return served
}

const everySecond = (run: Schedule['run'], more: Partial<Schedule> = {}): Schedule => ({ name: 'tick', cron: '* * * * * *', run, ...more })
const lines = ({ log }: Served) => log.map((line) => JSON.parse(line) as Record<string, unknown> & { readonly msg: string })
const said = (served: Served, msg: string) => lines(served).filter((line) => line.msg === msg)

rule('schedules.1', 'a function runs at its times, and knows them', async () => {
  const calls: ScheduleCall[] = []
  const served = await serve([
    everySecond(async (call) => {
      calls.push(call)
      await call.documents(city).create({ data: { name: `At ${call.time.getTime()}` } })
      call.log.info('counted', { cities: calls.length })
    }),
    { name: 'yearly', cron: '@yearly', timeZone: 'Asia/Tokyo', run: () => {} },
  ])
  await expect.poll(() => calls.length, patience).toBeGreaterThanOrEqual(3)
  const times = calls.map(({ time }) => time.getTime())
  expect(times.every((time) => time % 1_000 === 0)).toBe(true)
  expect(new Set(times).size).toBe(times.length)
  expect([...times].sort((a, b) => a - b)).toEqual(times)
  expect(calls[0]).toMatchObject({ name: 'tick', signal: expect.any(AbortSignal) })
  await expect.poll(() => served.service.documents(city).count(), patience).toBeGreaterThanOrEqual(3)
  expect(said(served, 'counted')[0]).toMatchObject({ level: 30, code: 'the schedule tick', cities: 1 })
  await expect
    .poll(() => said(served, 'a schedule ran')[0], patience)
    .toMatchObject({ schedule: 'tick', time: new Date(times[0]!).toISOString() })
})

describe('at the start', () => {
  const start = (schedules: string) => serveProject({ ...files, 'octavo.config.mjs': `export default { schedules: [${schedules}] }` })
  const one = (cron: string, more = '') => `{ name: 'one', cron: '${cron}', run: () => {}, ${more} }`

  test('patterns, time zones and names that cannot be used are refused', async () => {
    const wrong: readonly (readonly [string, string])[] = [
      [one('every day'), 'schedules: the cron pattern "every day" of "one" cannot be used'],
      [one('61 * * * *'), 'Invalid value for minute: 61'],
      [one('* * * * *', `timeZone: 'Mars/Olympus'`), 'There is no time zone "Mars/Olympus".'],
      [`${one('@daily')}, ${one('@hourly')}`, 'two schedules have the same name'],
      [`{ name: 'one', cron: '@daily' }`, 'run): must be a function'],
      [one('@daily', 'every: 1'), 'every'],
    ]
    for (const [schedules, message] of wrong) await expect(start(schedules), schedules).rejects.toThrow(message)
  })

  rule('schedules.2', 'schedules are logged with their next time, and run only where a service listens', async () => {
    const served = await serve([
      { name: 'new year', cron: '0 0 1 1 *', timeZone: 'UTC', run: () => {} },
      { name: 'past', cron: '0 0 0 1 1 * 2020', run: () => {} },
    ])
    const next = new Date(Date.UTC(new Date().getUTCFullYear() + 1, 0, 1)).toISOString()
    expect(said(served, 'schedule')).toMatchObject([
      { schedule: 'new year', cron: '0 0 1 1 *', next },
      { schedule: 'past', next: 'never' },
    ])
    let runs = 0
    const { createService, loadConfig } = (await import('../../dist/index.js' as string)) as typeof import('../../src/service/index.js')
    const config = await loadConfig(served.folder, {
      ...process.env,
      ...served.sameDatabase,
      LOG_LEVEL: 'silent',
      API_TOKEN_SALT: 'salt of the tests',
      JWT_SECRET: 'secret of the tests',
    })
    const script = await createService({ ...config, schedules: [everySecond(() => void runs++)] })
    await pause(2_200)
    await script.close()
    expect(runs).toBe(0)
  })
})

rule('schedules.3', 'of several processes one runs a schedule at each of its times', async () => {
  const runs: { readonly process: number; readonly time: number }[] = []
  const schedulesOf = (process: number) => ({ schedules: [everySecond(({ time }) => void runs.push({ process, time: time.getTime() }))] })
  const first = await serve(schedulesOf(1).schedules)
  await beside(first, schedulesOf(2))
  await beside(first, schedulesOf(3))
  await expect.poll(() => runs.length, patience).toBeGreaterThanOrEqual(8)
  const times = runs.map(({ time }) => time)
  expect(new Set(times).size, 'no time is run twice').toBe(times.length)
  // When the process that listens longest stops, the others go on.
  opened = opened.slice(1)
  await first.service.close()
  const since = runs.length
  await expect.poll(() => runs.length, patience).toBeGreaterThanOrEqual(since + 3)
  expect(runs.slice(since + 1).every(({ process }) => process !== 1)).toBe(true)
  for (const served of opened.toReversed()) await served.close()
  opened = [first]
})

rule('schedules.4', 'there is one run at a time; times during a run are skipped', async () => {
  let [running, most, runs] = [0, 0, 0]
  const slow = everySecond(async () => {
    running++
    runs++
    most = Math.max(most, running)
    await pause(2_600)
    running--
  })
  const first = await serve([slow])
  const second = await beside(first, { schedules: [slow] })
  await expect.poll(() => runs, patience).toBeGreaterThanOrEqual(4)
  expect(most).toBe(1)
  const skipped = [first, second].flatMap((served) => said(served, 'a schedule was skipped: its former run has not ended'))
  expect(skipped.length).toBeGreaterThanOrEqual(2)
  expect(skipped[0]).toMatchObject({ level: 40, schedule: 'tick' })
})

rule('schedules.6', 'missed times are skipped except for the last minute, or made up for once', async () => {
  const runs: string[] = []
  const run = ({ name, time }: ScheduleCall) => void runs.push(`${name} ${time.toISOString()}`)
  /** An hourly schedule whose last time was `seconds` ago; and that time. */
  const hourly = (seconds: number) => {
    const time = new Date(Math.floor(Date.now() / 1_000 - seconds) * 1_000)
    return { cron: `${time.getUTCSeconds()} ${time.getUTCMinutes()} * * * *`, timeZone: 'UTC', time: time.toISOString() }
  }
  const [{ time: ago, ...half }, { time: justNow, ...now }] = [hourly(1_800), hourly(5)]
  const schedules: readonly Schedule[] = [
    { name: 'missed', ...half, run },
    { name: 'made up for', ...half, catchUp: true, run },
    { name: 'just now', ...now, run },
  ]
  const first = await serve(schedules)
  await first.service.close()
  expect(runs).toEqual([])
  // As if the last run had been five hours ago.
  await first.sql('update octavo_schedule_times set last_time = ?', Date.now() - 5 * 3_600_000)
  const second = await beside(first, { schedules })
  await expect.poll(() => runs.length, patience).toBe(2)
  expect([...runs].sort()).toEqual([`just now ${justNow}`, `made up for ${ago}`])
  expect(said(second, 'a schedule was missed: no process ran it at its time')).toMatchObject([{ schedule: 'missed', time: ago }])
  await beside(first, { schedules })
  await pause(500)
  expect(runs).toHaveLength(2)
})

rule('schedules.7', 'a run that takes too long is aborted, and holds the schedule until it ends', async () => {
  const signals: AbortSignal[] = []
  let end = (): void => {}
  const served = await serve(
    [
      everySecond(async ({ signal }) => {
        signals.push(signal)
        if (signals.length > 1) return
        await new Promise<void>((resolve) => {
          end = resolve
        })
      }),
    ],
    { scheduleTimeout: 500 },
  )
  await expect.poll(() => signals[0]?.aborted, patience).toBe(true)
  expect((signals[0]!.reason as Error).message).toBe('the schedule tick took longer than 500 milliseconds')
  await expect
    .poll(() => said(served, 'a schedule takes too long; its signal is aborted')[0], patience)
    .toMatchObject({ level: 50, schedule: 'tick' })
  await expect.poll(() => said(served, 'a schedule was skipped: its former run has not ended').length, patience).toBeGreaterThanOrEqual(2)
  expect(signals).toHaveLength(1)
  end()
  await expect.poll(() => signals.length, patience).toBeGreaterThanOrEqual(2)
})

rule('schedules.8', 'failures are logged, and the next time is run', async () => {
  let runs = 0
  const served = await serve([
    everySecond(() => {
      runs++
      if (runs === 1) throw new Error('a fault of the schedule')
      if (runs === 2) throw 'a text'
      if (runs === 3) return Promise.reject(new TypeError('another fault'))
      return undefined
    }),
  ])
  await expect.poll(() => runs, patience).toBeGreaterThanOrEqual(5)
  const failures = said(served, 'a schedule failed') as unknown as readonly {
    readonly err: { readonly message: string }
    readonly schedule: string
  }[]
  expect(failures.map(({ schedule, err }) => [schedule, err.message])).toEqual([
    ['tick', 'the schedule tick failed: a fault of the schedule'],
    ['tick', "the schedule tick threw a value that is not an error: 'a text'"],
    ['tick', 'the schedule tick failed: another fault'],
  ])
})

rule('schedules.9', 'a stop begins no run, and aborts current ones', async () => {
  const runs: AbortSignal[] = []
  let ended = 0
  const served = await serve([
    everySecond(async ({ signal }) => {
      runs.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended++
    }),
  ])
  await expect.poll(() => runs.length, patience).toBe(1)
  await served.service.close()
  expect([runs[0]!.aborted, ended, (runs[0]!.reason as Error).message]).toEqual([true, 1, 'The service is stopping'])
  // The schedule is free for others at once.
  const [row] = await served.sql('select owner from octavo_leases')
  expect(row!.owner).toBeNull()
  await pause(1_200)
  expect(runs).toHaveLength(1)
})
