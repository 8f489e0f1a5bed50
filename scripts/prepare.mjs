// Makes a fresh clone ready to run: installs the dependencies when they are missing, builds when the sources are newer.
// The product builds without the tools of its tests (the workspace test/tools); --tools installs those too.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

let hasRun = false
const run = (command, args) => {
  hasRun = true
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

const withTools = process.argv.includes('--tools')
const quietly = ['--no-audit', '--no-fund', '--loglevel=error']

if (
  !existsSync('node_modules/.package-lock.json') ||
  statSync('package-lock.json').mtimeMs > statSync('node_modules/.package-lock.json').mtimeMs
) {
  console.log('Installing the dependencies (a native module may be compiled, which takes a minute) …')
  run('npm', ['ci', ...(withTools ? [] : ['--workspaces=false']), ...quietly])
} else if (withTools && !existsSync('node_modules/octavo-tests')) {
  console.log('Installing the tools of the tests …')
  // Unlike npm ci, this keeps compiled modules; --no-save leaves the lock file as it is.
  run('npm', ['install', '--no-save', ...quietly])
}

const newest = (folder) =>
  Math.max(
    ...readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => name !== 'dist')
      .map((entry) => (entry.isDirectory() ? newest(join(folder, entry.name)) : statSync(join(folder, entry.name)).mtimeMs)),
  )
// The bundle may find other packages after an installation: optional ones that only the tools bring.
if (
  hasRun ||
  !existsSync('dist/main.js') ||
  Math.max(newest('src'), newest('packages'), newest('admin')) > statSync('dist/main.js').mtimeMs
)
  run(process.execPath, ['scripts/build.mjs'])
if (hasRun) console.log(`Installed and built in ${(performance.now() / 1000).toFixed(0)} s.`)
