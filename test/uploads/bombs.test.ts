// Small files that would be gigabytes or minutes of decoding (S096): the process that works on one stays small, the service
// responds at the same time, and other pictures do not wait for it or fail with it (O06).
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { briefLimits, serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { bombs } from './bombs.js'
import { file, leftovers, noise, send } from './sending.js'

/** Files that are slow to create, or hundreds of megabytes, are for manual measurements. */
const slow = /^(?:jpeg 10,000|jpeg of|webp 10,000|webp of 1,000,000|gif of 10,000,000|avif|tiff of 50,000|png of 1,000,000)/
const megabyte = 1_000_000

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

/** A file about a thread or process; empty if that has ended meanwhile. */
function readEnding(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The resident memory of each process that works on pictures for this one, in bytes. */
function pictureProcesses(): readonly { readonly pid: number; readonly bytes: number }[] {
  return readdirSync('/proc/self/task')
    .flatMap((task) => readEnding(`/proc/self/task/${task}/children`).match(/\d+/g) ?? [])
    .filter((pid) => readEnding(`/proc/${pid}/cmdline`).includes('image-process'))
    .map((pid) => ({ pid: Number(pid), bytes: 1_024 * Number(/VmHWM:\s+(\d+)/.exec(readEnding(`/proc/${pid}/status`))?.[1] ?? 0) }))
}

describe.skipIf(!existsSync('/proc/self/task'))('S096', () => {
  test.each(bombs.filter(({ name }) => !slow.test(name)))('$name', async ({ make }) => {
    const bomb = await make()
    let [most, isOver] = [0, false]
    const watching = (async () => {
      while (!isOver) {
        most = Math.max(most, ...pictureProcesses().map(({ bytes }) => bytes))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const { status, text } = await send(served, [file(bomb, 'bomb.bin')])
    isOver = true
    await watching
    expect([201, 400], text).toContain(status)
    expect(most).toBeLessThan(512 * megabyte)
    expect(leftovers(served)).toEqual([])
  })

  rule('uploads.8', 'sizes in headers are read without decoding', async () => {
    const shape = async (name: string) => {
      const { body } = await send(served, [file(await bombs.find((bomb) => bomb.name === name)!.make(), 'bomb.bin')])
      return [body[0].width, body[0].height, body[0].formats]
    }
    expect(await shape('png 40,000,000 wide of 16 bits')).toEqual([40_000_000, 1, null])
    expect(await shape('gif 65,535 by 65,535')).toEqual([65_535, 65_535, null])
    expect(await shape('tiff whose pages go in a circle')).toEqual([600, 600, null])
    expect(await shape('svg with a huge box')).toEqual([null, null, null])
  })
})

describe.skipIf(!existsSync('/proc/self/task'))('O06 a picture beyond its bounds', () => {
  rule('uploads.8', 'of memory or of time is stored without formats, and others at the same time get theirs', async () => {
    const photograph = await noise(3000, 2000).jpeg().toBuffer()
    const small = await noise(600, 400).jpeg().toBuffer()
    for (const pauses of [false, true]) {
      const strict = await serveGolden({ config: { limits: pauses ? { ...briefLimits, imageCpuTime: 1_000 } : { imageCpuTime: 1 } } })
      try {
        if (pauses) {
          expect((await send(strict, [file(small, 'small.jpg')])).body[0].formats.small).toMatchObject({ width: 500 })
          for (const { pid } of pictureProcesses()) process.kill(pid, 'SIGSTOP')
        }
        const { status, body } = await send(strict, [file(photograph, 'large.jpg')])
        expect([status, body[0].mime, body[0].size > 0, body[0].formats]).toEqual([201, 'image/jpeg', true, null])
        expect((await strict.request(body[0].url)).status).toBe(200)
        expect(leftovers(strict)).toEqual([])
      } finally {
        await strict.close()
      }
    }
    const bomb = bombs.find(({ name }) => name === 'png 5,000 by 5,000, interlaced')!.make()
    const strict = await serveGolden({ config: { limits: { imageMemory: 150_000_000 } } })
    try {
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, async () => send(strict, [file(await bomb, 'bomb.png')])),
        ...Array.from({ length: 6 }, () => send(strict, [file(small, 'small.jpg')])),
      ])
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      for (const { body } of answers.slice(3)) expect(body[0].formats.small).toMatchObject({ width: 500 })
      for (const { body } of answers.slice(0, 3)) expect(body[0]).toMatchObject({ width: 5_000, formats: null })
    } finally {
      await strict.close()
    }
  })

  test('each picture has a process to itself: the death of one fails nothing else', async () => {
    const photograph = await noise(4000, 3000).jpeg().toBuffer()
    const sent = [send(served, [file(photograph, 'one.jpg')]), send(served, [file(photograph, 'two.jpg')])]
    await until('two processes of pictures', () => pictureProcesses().length === 2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    process.kill(pictureProcesses()[0]!.pid, 'SIGKILL')
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(0)
    expect((await send(served, [file(photograph, 'three.jpg')])).status).toBe(201)
  })
})
