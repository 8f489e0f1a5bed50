// Schedules and scheduled publications when the process that runs them is killed or paused: another one takes over, and nothing is done twice.
import { expect, test } from 'vitest'
import { openChildren } from '../faults/children.js'
import { addAdministrator, requestAdmin, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { requestAt, serveExisting } from '../support/serve.js'
import { patience } from '../support/until.js'

const children = openChildren(null)

/** Every second: writes `begin <pid> <time>`, works for `milliseconds`, writes `end <pid> <time>`. */
const configure = (milliseconds: number): void =>
  children.configure(`
    const writeRun = (what, time) => write('runs', what, process.pid, time.getTime())
    export default { schedules: [{ name: 'tick', cron: '* * * * * *', run: async ({ time, signal }) => {
      writeRun('begin', time)
      await new Promise((resolve) => { setTimeout(resolve, ${milliseconds}); signal.addEventListener('abort', resolve) })
      writeRun('end', time)
    } }] }`)

interface Line {
  readonly what: string
  readonly pid: number
  readonly time: number
}

const runs = (): readonly Line[] =>
  children.written('runs').map(([what, pid, time]) => ({ what: what!, pid: Number(pid), time: Number(time) }))
const begun = () => runs().filter(({ what }) => what === 'begin')
const run = () => children.run({ LOG_LEVEL: 'info' })

rule('schedules.5', 'a process that is killed while it runs a schedule leaves it to another one', async () => {
  configure(1_500)
  const [one, two] = [run(), run()]
  await Promise.all([one.origin, two.origin])
  await expect.poll(() => begun().length, patience).toBeGreaterThanOrEqual(2)
  const { pid, time } = begun().at(-1)!
  const [killed, other] = one.process.pid === pid ? [one, two] : [two, one]
  killed.process.kill('SIGKILL')
  await killed.ended
  await expect
    .poll(() => begun().filter((line) => line.pid === other.process.pid && line.time > time).length, patience)
    .toBeGreaterThanOrEqual(2)
  const times = begun().map((line) => line.time)
  expect(new Set(times).size, 'no time is run twice').toBe(times.length)
  await expect.poll(() => other.output(), patience).toContain('the former run of a schedule did not end')
  // A run that was interrupted is not repeated; the last one has its end still before it.
  const ends = new Set(runs().flatMap((line) => (line.what === 'end' ? [line.time] : [])))
  expect(begun().filter((line) => !ends.has(line.time)).length).toBeLessThanOrEqual(2)
})

test('a process paused during a run loses the schedule, and its run is aborted', async () => {
  configure(120_000)
  const one = run()
  await one.origin
  await expect.poll(() => begun().length, patience).toBe(1)
  const two = run()
  await two.origin
  one.process.kill('SIGSTOP')
  // Another process waits for signs of life for half a minute.
  await expect.poll(() => begun().some(({ pid }) => pid === two.process.pid), { ...patience, interval: 500 }).toBe(true)
  one.process.kill('SIGCONT')
  await expect.poll(() => runs().some(({ what, pid }) => what === 'end' && pid === one.process.pid), patience).toBe(true)
  expect(begun()).toHaveLength(2)
})

rule('administration-schedule.6', 'a publication whose process is killed is carried out by another one, once', async () => {
  // The first process stands still before its transaction.
  children.configure(`
    const before = async () => {
      write('publications', process.pid)
      if (process.env.STANDS_STILL === 'yes') await new Promise((resolve) => setTimeout(resolve, 600_000))
    }
    export default {
      limits: { hookTimeout: 600_000 },
      hooks: [{ name: 'slow', types: ['api::article.article'], actions: ['publish'], before }],
    }`)
  const environment = { ADMIN_JWT_SECRET: 'a-secret-of-this-test' }
  const served = await serveExisting({ folder: children.folder() }, environment)
  await addAdministrator(served, 'ada@killed.example')
  const token = (await signInAdmin(served, 'ada@killed.example')).accessToken
  const stories = '/content/api::article.article'
  const { body } = await requestAdmin(served, stories, { method: 'POST', token, body: { data: { title: 'Published once' } } })
  const story = `${stories}/${body.data.documentId}`
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const put = await requestAdmin(served, `${story}/schedule`, { method: 'PUT', token, body: { action: 'publish', at } })
  expect(put.status, put.text).toBe(200)
  // Due as soon as the other processes run.
  await served.sql('UPDATE octavo_scheduled_actions SET due_at = ?', Date.now() + 5_000)
  await served.close()
  const one = children.run({ ...environment, STANDS_STILL: 'yes' })
  await one.origin
  const publications = () => children.written('publications').map(([pid]) => Number(pid))
  await expect.poll(publications, patience).toEqual([one.process.pid])
  const two = children.run(environment)
  const origin = await two.origin
  one.process.kill('SIGKILL')
  await one.ended
  const read = (path: string) => requestAt(origin, `/admin/api${path}`, { headers: { authorization: `Bearer ${token}` } })
  await expect.poll(async () => (await read(story)).body.data.state, patience).toBe('published')
  expect((await read(story)).body.data.scheduled).toEqual([])
  expect(publications()).toEqual([one.process.pid, two.process.pid])
  const acts = (await read(`/activity?subjectId=${body.data.documentId}`)).body.data.map(({ action }: { action: string }) => action)
  expect(acts).toEqual(['publish', 'schedule', 'create'])
})
