// Services that cannot be opened leave no handles open, nor do closed ones: a script that catches the error ends by itself.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { patience } from '../support/until.js'
import { copyGolden, remove } from './child.js'

let folder: string
beforeEach(async () => {
  folder = await copyGolden()
})
afterEach(() => remove(folder))

const octavo = join(import.meta.dirname, '..', '..', 'dist', 'index.js')

/** Runs a script with `config`, `attempt` and the library's exports; resolves to its output and exit code. */
function run(script: string): Promise<{ code: number | null; output: string; errors: string }> {
  const text = `
    import { createService, loadConfig } from ${JSON.stringify(octavo)}
    process.stdout.on('error', () => {})
    const held = () => [process.listenerCount('exit'), process.stdout.listenerCount('error')]
    const attempt = (config) => createService(config).then(() => 'it opened', (error) => error.message)
    const config = await loadConfig(${JSON.stringify(folder)}, { HOST: '127.0.0.1', PORT: '0', UPLOADS_DIR: 'uploads', OCTAVO_DATABASE_READER_THREADS: '2', LOG_LEVEL: 'silent' })
    ${script}`
  const file = join(folder, 'script.mjs')
  writeFileSync(file, text)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: patience.timeout, killSignal: 'SIGKILL' })
  let [output, errors] = ['', '']
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output, errors })))
}

test('hooks of types that there are not are refused before anything is opened', async () => {
  rmSync(join(folder, '.tmp'), { recursive: true })
  const script = `console.log(await attempt({ ...config, hooks: [{ name: 'mine', types: ['api::no.no'], before: () => {} }] }))`
  expect(await run(script)).toEqual({
    code: 0,
    output: 'Invalid configuration (octavo.config): mine: there is no type api::no.no.\n',
    errors: '',
  })
  expect(existsSync(join(folder, '.tmp', 'data.db'))).toBe(false)
})

test('an uploads folder that cannot be used leaves nothing open', async () => {
  mkdirSync(join(folder, 'uploads'), { recursive: true })
  symlinkSync(folder, join(folder, 'uploads', '.octavo'))
  const { code, output } = await run(
    'console.log(await attempt({ ...config, events: { ...config.events, outbox: true, listeners: [() => {}] } }))',
  )
  expect(output).toContain('is a symbolic link')
  expect(code).toBe(0)
  expect(existsSync(join(folder, '.tmp', 'data.db-wal'))).toBe(false)
})

test('nor does a failed creation of a server, even if repeated', async () => {
  const { code, output, errors } = await run(`
    const before = held()
    const wrong = { ...config, rest: { ...config.rest, prefix: '/a*b' } }
    for (let count = 0; count < 12; count++) console.log(await attempt(wrong))
    console.log(JSON.stringify(held()) === JSON.stringify(before) ? 'nothing is held' : held())`)
  expect(output.match(/Wildcard must be the last/g)).toHaveLength(12)
  expect(output).toContain('nothing is held')
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
})

test('a service that is closed, twice too, holds nothing of the process', async () => {
  const { code, output, errors } = await run(`
    const before = held()
    const service = await createService(config)
    await service.listen()
    await Promise.all([service.close(), service.close()])
    console.log(JSON.stringify(held()) === JSON.stringify(before) ? 'nothing is held' : held())`)
  expect({ code, output, errors }).toEqual({ code: 0, output: 'nothing is held\n', errors: '' })
})
