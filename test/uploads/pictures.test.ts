// The picture process: it is there while there is work, stands behind the service, knows no secrets, and takes only its own
// pictures with it when it dies.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { eventually, file, leftovers, noise, send, stored } from './sending.js'

/** The processes that this one started and that work on pictures. */
function pictureProcesses(): readonly number[] {
  const children = readdirSync('/proc/self/task').flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' '))
  return children
    .filter((pid) => pid.trim() !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('image-process'))
}

/** True while formats of a picture are made: the smallest is there, and the work goes on. */
const isAtWork = ({ folder }: Served): boolean =>
  readdirSync(join(folder, 'uploads', '.octavo'), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('thumbnail'))

describe.skipIf(!existsSync('/proc/self/task'))('the picture process', () => {
  let served: Served
  let photograph: Buffer
  beforeAll(async () => {
    served = await serveGolden()
    photograph = await noise(4000, 3000).jpeg().toBuffer()
  })
  afterAll(() => served.close())

  test('starts with the first picture, behind the service and without its secrets', async () => {
    expect((await send(served, [file('x', 'x.txt')])).status).toBe(201)
    expect(pictureProcesses()).toEqual([])
    const sent = send(served, [file(photograph, 'one.jpg')])
    expect(await eventually(() => pictureProcesses().length === 1)).toBe(true)
    expect((await sent).status).toBe(201)
    const [pid] = pictureProcesses()
    expect(getPriority(pid)).toBe(Math.min(19, getPriority() + 10))
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((line) => line.split('=')[0])
    expect(
      environment.filter((name) => !/^(PATH|TMPDIR|TMP|TEMP|LD_LIBRARY_PATH|UV_THREADPOOL_SIZE|NODE_CHANNEL_\w+|)$/.test(name!)),
    ).toEqual([])
  })

  test('that dies takes its pictures with it, and nothing else', async () => {
    const before = [await served.sql('select id from files'), stored(served)]
    const sent = send(served, [file(photograph, 'two.jpg')])
    expect(await eventually(() => isAtWork(served))).toBe(true)
    const [dead] = pictureProcesses()
    process.kill(dead!, 'SIGKILL')
    const { status, body } = await sent
    expect([status, body.error.name]).toEqual([503, 'ServiceUnavailableError'])
    expect([await served.sql('select id from files'), stored(served), leftovers(served)]).toEqual([...before, []])
    expect((await send(served, [file(photograph, 'three.jpg')])).body[0].formats.small).toMatchObject({ width: 500 })
    expect(pictureProcesses()).not.toContain(dead)
  })

  test('is gone when the service is', async () => {
    const other = await serveGolden()
    await send(other, [file(photograph, 'four.jpg')])
    const count = pictureProcesses().length
    await other.close()
    expect(await eventually(() => pictureProcesses().length === count - 1)).toBe(true)
  })
})
