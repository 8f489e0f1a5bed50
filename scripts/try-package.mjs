// Installs the package as a registry would deliver it into a new project, with npm and with pnpm, and starts both projects.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const place = mkdtempSync(join(tmpdir(), 'octavo-package-'))
/** Command of each package manager; pnpm in a version that runs on Node 20. */
const managers = { npm: ['npm'], pnpm: ['npm', 'exec', '--yes', '--package=pnpm@10.34.8', '--', 'pnpm'] }

try {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', place])
  const tarball = join(place, stdout.trim())
  await Promise.all(Object.entries(managers).map(([manager, words]) => tryWith(manager, words, tarball)))
} finally {
  rmSync(place, { recursive: true, force: true })
}

/**
 * @param {string} manager
 * @param {readonly string[]} words
 * @param {string} tarball
 */
async function tryWith(manager, [command, ...words], tarball) {
  const folder = join(place, manager)
  const env = { ...process.env, npm_config_user_agent: `${manager}/0.0.0` }
  const init = ['init', folder, '--template', 'blank', '--no-typescript', '--no-install', '--no-git', '--yes']
  await run(process.execPath, [resolve('dist/main.js'), ...init], { env })
  const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...description, dependencies: { octavo: `file:${tarball}` } }, null, 2))
  // A native module that is compiled here only has to start: without optimization it takes a third of the time.
  const compiling = { ...process.env, CFLAGS: '-O0', CXXFLAGS: '-O0' }
  await run(command, [...words, 'install'], { cwd: folder, env: compiling, maxBuffer: 1e8 })
  await starts(folder)
  console.log(`${manager}: installed, and the blank project starts`)
}

/**
 * Resolves once the project in `folder` is served. @throws Error with its output if it ends before
 * @param {string} folder
 * @returns {Promise<void>}
 */
function starts(folder) {
  const main = join('node_modules', 'octavo', 'dist', 'main.js')
  const child = spawn(process.execPath, [main, 'start'], { cwd: folder, env: { ...process.env, PORT: '0', HOST: '127.0.0.1' } })
  return new Promise((done, fail) => {
    let output = ''
    const read = (/** @type {Buffer} */ bytes) => {
      output += bytes
      if (output.includes('Octavo serves')) child.kill()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('close', () => (output.includes('Octavo serves') ? done() : fail(new Error(output))))
  })
}
