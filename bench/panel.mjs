// Strapi with its admin panel, and browsers for it and for Octavo's page, signed in as the same administrator.

import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { launch, temporaryFolder } from './launch.mjs'
import { goldenProject, octavoFolder } from './servers.mjs'
import { prepareStrapi, strapiFolder } from './strapi.mjs'

/** Outside of this repository, whose tsconfig.json Strapi would build by. It is kept, because the build takes minutes. */
const panelFolder = process.env.STRAPI_PANEL ?? join(tmpdir(), 'octavo-strapi-panel')
const octavo = join(octavoFolder, 'main.js')

/** An administrator that may do everything. */
export const administrator = { email: 'ada@example.com', password: 'Correct-Horse-7' }

/** Creates the administrator in a database, by Octavo. @param {string} database */
export function createAdministrator(database) {
  const { email, password } = administrator
  execFileSync(process.execPath, [octavo, 'admins', 'create', '--email', email, '--password', password, goldenProject], {
    env: { ...process.env, DATABASE_FILENAME: database },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Writes the project and builds its panel, if that was not done before. */
async function preparePanel() {
  await prepareStrapi()
  mkdirSync(panelFolder, { recursive: true })
  for (const name of ['config', 'src', 'database', '.env', 'package.json']) {
    rmSync(join(panelFolder, name), { recursive: true, force: true })
    cpSync(join(strapiFolder, name), join(panelFolder, name), { recursive: true })
  }
  mkdirSync(join(panelFolder, 'public', 'uploads'), { recursive: true })
  const modules = join(panelFolder, 'node_modules')
  if (!existsSync(modules)) symlinkSync(join(strapiFolder, 'node_modules'), modules)
  if (existsSync(join(panelFolder, 'build', 'index.html'))) return
  console.log(`Building the panel of Strapi in ${panelFolder}, which takes some minutes …`)
  const child = spawn(join(modules, '.bin', 'strapi'), ['build'], {
    cwd: panelFolder,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      SERVE_ADMIN_PANEL: 'true',
      PORT: '1337',
      DATABASE_FILENAME: join(panelFolder, 'none.db'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`Strapi could not build its panel (exit code ${code})`)
}

/**
 * Adds types to a project.
 * @param {string} project
 * @param {Readonly<Record<string, object>>} types attributes by singular names
 */
function addTypes(project, types) {
  for (const [name, attributes] of Object.entries(types)) {
    const folder = join(project, 'src', 'api', name, 'content-types', name)
    mkdirSync(folder, { recursive: true })
    const info = { singularName: name, pluralName: `${name}s`, displayName: name }
    const schema = { kind: 'collectionType', collectionName: `${name}s`, info, options: { draftAndPublish: true }, attributes }
    writeFileSync(join(folder, 'schema.json'), JSON.stringify(schema))
  }
}

/** Strapi with its panel on a database file, which it changes. @param {string} database @param {Readonly<Record<string, object>>} [types] */
export async function startPanel(database, types = {}) {
  await preparePanel()
  addTypes(panelFolder, types)
  return launch({
    name: 'Strapi',
    command: [join(panelFolder, 'node_modules', '.bin', 'strapi'), 'start'],
    folder: temporaryFolder(),
    workingFolder: panelFolder,
    environment: { DATABASE_FILENAME: database, SERVE_ADMIN_PANEL: 'true' },
    patience: 600_000,
  })
}

/**
 * Octavo with its page on a database file, which it changes.
 * @param {string} database
 * @param {{ types?: Readonly<Record<string, object>>, build?: string }} [more]
 */
export function startPage(database, { types = {}, build = octavoFolder } = {}) {
  const folder = temporaryFolder()
  const project = join(folder, 'project')
  cpSync(goldenProject, project, { recursive: true })
  addTypes(project, types)
  return launch({
    name: 'Octavo',
    command: [join(build, 'main.js'), 'start', project],
    folder,
    environment: {
      DATABASE_FILENAME: database,
      UPLOADS_DIR: join(project, 'uploads'),
      OCTAVO_DATABASE_READER_THREADS: '1',
    },
    patience: 300_000,
  })
}

/** A browser with an empty profile and one page. */
export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'octavo-bench-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
    timeout: 300_000,
  })
  const page = context.pages()[0] ?? (await context.newPage())
  page.setDefaultTimeout(300_000)
  return {
    page,
    context,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/** Headers of a signed-in page's requests to the administration API. @param {string} origin @param {{ email: string, password: string }} [who] */
export async function pageHeaders(origin, who = administrator) {
  const headers = { origin, 'octavo-admin': '1', 'content-type': 'application/json' }
  const response = await fetch(`${origin}/admin/api/session`, { method: 'POST', headers, body: JSON.stringify(who) })
  if (!response.ok) throw new Error(`Sign-in: ${response.status} ${await response.text()}`)
  const { data } = await response.json()
  return { ...headers, authorization: `Bearer ${data.accessToken}` }
}

/** Signs in by the form of the panel or of the page. @param {import('playwright-core').Page} page @param {string} origin @param {boolean} isPanel */
export async function signIn(page, origin, isPanel) {
  await page.goto(`${origin}/admin`)
  if (isPanel) await page.locator('input[name=email]').fill(administrator.email)
  else await page.getByRole('textbox', { name: 'E-mail' }).fill(administrator.email)
  await page.locator('input[type=password]').fill(administrator.password)
  await page.locator('button[type=submit]').click()
  await page.locator('input[type=password]').waitFor({ state: 'detached' })
}
