// Picture processes that cannot be started as usual: they are started directly if there is no shell, and without a picture
// library the log says so, and no picture is considered too large.
import childProcess from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { file, leftovers, noise, send, stored } from './sending.js'

const spawn = childProcess.spawn
afterEach(() => {
  childProcess.spawn = spawn
  syncBuiltinESMExports()
})

/** Starts other programs than the service requests: each word of a command may be replaced. */
function replaced(word: (word: string) => string): void {
  const other = (file: string, words: readonly string[], options: childProcess.SpawnOptions) => spawn(word(file), words.map(word), options)
  childProcess.spawn = other as typeof spawn
  syncBuiltinESMExports()
}

const noShell = (word: string): string => (word === '/bin/sh' ? '/nowhere/sh' : word)

test('without a shell pictures are worked on all the same', async () => {
  // A busy machine makes statements slow, which is logged as a warning.
  const served = await serveGolden({ config: { limits: { slowQuery: 0 } } })
  replaced(noShell)
  const { status, body } = await send(served, [file(await noise(600, 400).jpeg().toBuffer(), 'one.jpg')])
  expect([status, body[0].width, body[0].formats.small.width]).toEqual([201, 600, 500])
  expect(served.log.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  await served.close()
})

test('without a program to start, an upload is 503 and the log names the missing part', async () => {
  const served = await serveGolden()
  const before = [await served.sql('select id from files'), stored(served), []]
  replaced((word) => (word === process.execPath ? '/nowhere/node' : noShell(word)))
  const { status } = await send(served, [file(await noise(600, 400).jpeg().toBuffer(), 'one.jpg')])
  expect(status).toBe(503)
  expect(served.log.join('\n')).toContain('an image process could not be started: spawn /nowhere/node ENOENT')
  expect([await served.sql('select id from files'), stored(served), leftovers(served)]).toEqual(before)
  await served.close()
})

test('without the picture library an upload is 503, and the next one works where it is there again', async () => {
  const served = await serveGolden()
  const before = [await served.sql('select id from files'), stored(served), []]
  // A copy of the build, without libraries.
  const lone = mkdtempSync(join(tmpdir(), 'octavo-lone-'))
  cpSync(join(import.meta.dirname, '..', '..', 'dist'), lone, { recursive: true })
  replaced((word) => (word.endsWith('image-process.js') ? join(lone, basename(word)) : word))
  const picture = file(await noise(600, 400).jpeg().toBuffer(), 'one.jpg')
  const answer = await send(served, [picture])
  expect([answer.status, answer.body.error.name]).toEqual([503, 'ServiceUnavailableError'])
  const errors = () => served.log.filter((line) => JSON.parse(line).level === 50)
  await until('the error is logged', () => errors().length > 0)
  expect(errors().join('\n')).toMatch(/an image process could not be started: .*sharp/)
  expect([await served.sql('select id from files'), stored(served), leftovers(served)]).toEqual(before)
  childProcess.spawn = spawn
  syncBuiltinESMExports()
  expect((await send(served, [picture])).body[0].formats.small).toMatchObject({ width: 500 })
  rmSync(lone, { recursive: true })
  await served.close()
})
