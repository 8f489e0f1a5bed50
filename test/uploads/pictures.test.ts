// The picture process: it runs while there is work, with lower priority than the service, knows no secrets, and takes only its own
// pictures with it when it dies.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { file, leftovers, noise, send, stored } from './sending.js'

/** The processes that this one started and that work on pictures. */
function pictureProcesses(): readonly number[] {
  const children = readdirSync('/proc/self/task').flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' '))
  return children
    .filter((pid) => pid.trim() !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('image-process'))
}

/** True while formats of a picture are created: the smallest is there, and the work goes on. */
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

  test('starts with the first picture, with lower priority than the service and without its secrets', async () => {
    expect((await send(served, [file('x', 'x.txt')])).status).toBe(201)
    expect(pictureProcesses()).toEqual([])
    const sent = send(served, [file(photograph, 'one.jpg')])
    await until('a process of pictures', () => pictureProcesses().length === 1)
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
    await until('the picture is processed', () => isAtWork(served))
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
    await until('one process less', () => pictureProcesses().length === count - 1)
  })
})

/** A picture of a few bytes that takes all the time that a picture may take. */
function slowPicture(): Buffer {
  const size = (width: number, height: number) => Buffer.from(Uint16Array.from([width, height]).buffer)
  const frame = Buffer.from([0x21, 0xf9, 4, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0])
  const head = Buffer.concat([Buffer.from('GIF89a'), size(1000, 1000), Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255])])
  return Buffer.concat([head, ...Array.from({ length: 99 }, () => frame), Buffer.from(';')])
}

rule('uploads.21', 'callers take turns, quick pictures pass, and who has most in line gives way', async () => {
  const limits = { imageConcurrency: 2, imageQueue: 3, imageCpuTime: 3_000 }
  const served = await serveGolden({ config: { limits } })
  const quick = await noise(300, 200).jpeg().toBuffer()
  const answered: string[] = []
  const upload = async (as: string, content: Buffer, name: string) => {
    const { status } = await send(served, [file(content, name)], { as })
    answered.push(`${as} ${status}`)
    return status
  }
  const slow = Array.from({ length: 6 }, () => upload('full', slowPicture(), 'slow.gif'))
  // The queue has no room for two of them.
  await until('two are answered', () => answered.length === 2)
  expect(await upload('bob', quick, 'quick.jpg')).toBe(201)
  expect(answered).toEqual(['full 503', 'full 503', 'bob 201'])
  // Both at once: one finds no free slot and waits in its client's own queue.
  const both = await Promise.all([upload('bob', quick, 'quick.jpg'), upload('bob', quick, 'quick.jpg')])
  expect(both).toEqual([201, 201])
  // Of the four that were accepted; how many have ended depends on the machine.
  expect(answered.filter((text) => text === 'full 201').length).toBeLessThan(4)
  // Each picture that had to wait took the place of one. Only on a machine where a quick picture takes two seconds did both wait.
  const statuses = await Promise.all(slow)
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(2)
  await served.close()
})
