// Services as separate processes on one copy of the golden project, for tests that kill or pause them; and the notes that code of
// the project writes in them.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { UserConfig } from '../../src/foundation/config/config.js'
import { type Child, copyGolden, remove, start } from './child.js'

/** The processes of a test. */
export interface Children {
  /** The folder of the project. */
  folder(): string
  /** Starts a process. */
  run(environment?: Readonly<Record<string, string>>): Child
  /** Those that were started. */
  all(): readonly Child[]
  /** Writes `octavo.config.mjs`; there `write('file', …words)` writes down a line. */
  configure(code: string): void
  /** The lines of such a file, as their words. */
  written(file: string): readonly (readonly string[])[]
}

/** Gives every test of a file a copy of the project, and ends its processes. `config`: null for a configuration that is code. */
export function openChildren(config: UserConfig | null): Children {
  let folder = ''
  let children: Child[] = []
  beforeEach(async () => {
    children = []
    folder = await copyGolden(config ?? {})
    if (config === null) rmSync(join(folder, 'octavo.config.json'))
  })
  afterEach(async () => {
    for (const child of children) child.process.kill('SIGKILL')
    await Promise.all(children.map(({ ended }) => ended))
    await remove(folder)
  })
  return {
    folder: () => folder,
    run: (environment) => {
      const child = start(folder, environment)
      children.push(child)
      return child
    },
    all: () => children,
    configure: (code) =>
      writeFileSync(
        join(folder, 'octavo.config.mjs'),
        `import { appendFileSync } from 'node:fs'
        const write = (file, ...words) => appendFileSync(${JSON.stringify(folder)} + '/' + file, words.join(' ') + '\\n')
        ${code}`,
      ),
    written: (file) =>
      existsSync(join(folder, file))
        ? readFileSync(join(folder, file), 'utf8')
            .trim()
            .split('\n')
            .map((line) => line.split(' '))
        : [],
  }
}
