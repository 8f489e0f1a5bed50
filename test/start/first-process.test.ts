// The service as process 1, as in a container: the kernel ignores signals there that a process does not handle.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, vi } from 'vitest'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { patience } from '../support/until.js'
import { project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const canIsolate = spawnSync('unshare', ['--pid', '--fork', '--kill-child', 'true']).status === 0

describe.skipIf(!canIsolate)('as process 1', () => {
  rule('running.8', 'SIGTERM while the configuration is read ends the process', async () => {
    const folder = project({
      ...contentType('note', { name: { type: 'string' } }),
      'octavo.config.mjs': `import { writeFileSync } from 'node:fs'
        writeFileSync(new URL('held', import.meta.url), String(process.pid))
        await new Promise((resolve) => setTimeout(resolve, 600_000))
        export default {}`,
    })
    const command = [process.execPath, join(root, 'dist', 'main.js'), 'start', folder]
    const child = spawn('unshare', ['--pid', '--fork', '--kill-child', ...command], { stdio: 'ignore' })
    try {
      await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), patience)
      expect(readFileSync(join(folder, 'held'), 'utf8')).toBe('1')
      const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
      process.kill(pid, 'SIGTERM')
      await vi.waitFor(() => expect(child.exitCode).toBe(143), patience)
    } finally {
      child.kill('SIGKILL')
    }
  })
})
