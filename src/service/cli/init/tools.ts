// Runs the package manager and git for a new project.
import { spawn } from 'node:child_process'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'
const managers: readonly PackageManager[] = ['npm', 'pnpm', 'yarn', 'bun']

/** The package manager that runs this command, else npm. */
export function packageManager(): PackageManager {
  const [name] = (process.env.npm_config_user_agent ?? '').split('/')
  return managers.find((manager) => manager === name) ?? 'npm'
}

/** Installs the dependencies of a project. Returns null on success, otherwise the reason: `exit status 1`. */
export function installDependencies(folder: string): Promise<string | null> {
  const manager = packageManager()
  return runs(manager, ['install', ...(manager === 'npm' ? ['--no-audit', '--no-fund', '--loglevel=error'] : [])], folder)
}

/** Creates a git repository in a folder, unless it is in one. True if there is one afterwards. */
export async function createRepository(folder: string): Promise<boolean> {
  if ((await runs('git', ['rev-parse', '--is-inside-work-tree'], folder, 'ignore')) === null) return true
  return (await runs('git', ['init', '--quiet'], folder, 'ignore')) === null
}

/** Null on success. */
function runs(command: string, words: readonly string[], folder: string, output: 'inherit' | 'ignore' = 'inherit'): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, words, { cwd: folder, stdio: ['ignore', output, output], shell: process.platform === 'win32' })
    child.once('error', (error) => resolve(error.message))
    child.once('close', (status, signal) => resolve(status === 0 ? null : signal === null ? `exit status ${status}` : `ended by ${signal}`))
  })
}
