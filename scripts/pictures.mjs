// Pictures of the page for editors from the example project, with Chromium, after a build. `node scripts/pictures.mjs` takes those of
// docs/images; `node scripts/pictures.mjs FOLDER [state …]` takes its main states into a folder, each in light, in dark, and as on a phone.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import sharp from 'sharp'

const [states, ...only] = process.argv.slice(2)
const port = process.env.PORT ?? '1399'
// The demo administrator needs a name of this machine.
const origin = `http://localhost:${port}`
// Below the repository, where the website of the example finds the package.
mkdirSync('examples/.tmp', { recursive: true })
const folder = mkdtempSync(join('examples', '.tmp', 'pictures-'))
cpSync('examples/magazine', folder, { recursive: true, filter: (path) => !path.includes('.tmp') })
const service = spawn(process.execPath, ['dist/main.js', 'dev', folder], {
  stdio: 'ignore',
  env: { ...process.env, HOST: 'localhost', PORT: port },
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
  timeout: 300_000,
})
try {
  const isServing = async () => (await fetch(`${origin}/_health`).catch(() => null))?.ok
  while (!(await isServing())) await setTimeout(200)
  await (states === undefined ? takeForDocumentation() : takeStates(states))
} finally {
  await browser.close()
  service.kill()
  rmSync(folder, { recursive: true, force: true })
}

/** @typedef {import('playwright-core').Page} Page */

/** @param {Page} page */
async function signIn(page) {
  await page.goto(`${origin}/admin`)
  await page.getByRole('button', { name: 'demo' }).click()
  await page.locator('input[type=password]').waitFor({ state: 'detached' })
  await heading(page)
}

/** Waits for the heading of a screen. @param {Page} page */
async function heading(page) {
  await page.getByRole('heading', { level: 1 }).waitFor()
}

async function takeForDocumentation() {
  const page = await browser.newPage({ viewport: { width: 1200, height: 820 } })
  /** @type {(name: string) => Promise<void>} */
  const take = async (name) => {
    await page.waitForLoadState('networkidle').catch(() => {})
    await setTimeout(1_000)
    await sharp(await page.screenshot())
      .png({ palette: true, colours: 256 })
      .toFile(`docs/images/${name}.png`)
  }
  await page.goto(origin)
  await page.locator('#status b').waitFor()
  await take('start-page')

  await signIn(page)
  await page.getByRole('link', { name: 'Articles' }).click()
  await page.getByRole('row').nth(3).waitFor()
  await take('admin-list')
  const list = page.url().split('?')[0]
  const { data } = await (await fetch(`${origin}/api/articles?filters[slug][$containsi]=thousand&fields[0]=title`)).json()
  await page.goto(`${list}/${data[0].documentId}`)
  await page.getByLabel('Title').first().waitFor()
  await take('admin-editor')
  await page.goto(`${list}/${data[0].documentId}?beside=de`)
  await page
    .getByLabel('Title')
    .nth(1)
    .waitFor({ timeout: 5_000 })
    .catch(() => {})
  await take('admin-languages')
}

/** Documents that are hard to show, by the administration API. */
async function fill() {
  const run = (/** @type {string[]} */ ...words) => execFileSync(process.execPath, ['dist/main.js', ...words, folder], { stdio: 'ignore' })
  const account = { email: 'pictures@example.com', password: 'Correct-Horse-7' }
  run('admins', 'create', '--email', account.email, '--password', account.password)
  run('locales', 'add', 'ar')
  const own = { origin, 'octavo-admin': '1', 'content-type': 'application/json' }
  const send = async (/** @type {string} */ path, /** @type {object} */ body, token = '') => {
    const headers = { ...own, authorization: `Bearer ${token}` }
    const response = await fetch(`${origin}/admin/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()).data
  }
  const { accessToken } = await send('/session', account)
  const article = async (/** @type {object} */ data, locale = 'en') =>
    (await send(`/content/api::article.article?locale=${locale}`, { data }, accessToken)).documentId
  const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
  const ids = {
    long: await article({ title: `${word} and a word`, kicker: word.slice(0, 40), summary: `${word} ${word} ${word}` }),
    arabic: await article({ title: 'طاحونة تنتظر القمر', kicker: 'الماء', summary: 'قصة عن طاحونة لا تدور إلا في الليل (2026).' }, 'ar'),
    poor: await article({ title: 'Without a summary' }),
  }
  for (let index = 0; index < 200; index++)
    await send('/content/api::tag.tag?locale=en', { data: { name: `Tag ${index}`, slug: `tag-${index}` } }, accessToken)
  return ids
}

/** @param {string} target */
async function takeStates(target) {
  mkdirSync(target, { recursive: true })
  const { long, arabic, poor } = await fill()
  const { data } = await (await fetch(`${origin}/api/articles?filters[slug][$containsi]=thousand&fields[0]=title`)).json()
  const articles = `${origin}/admin/content/api::article.article`
  const story = `${articles}/${data[0].documentId}`
  const title = (/** @type {Page} */ page) => page.getByRole('textbox', { name: 'Title' }).first().waitFor()
  const rows = (/** @type {Page} */ page) => page.locator('tbody tr').nth(3).waitFor()

  /** Opens an address. @type {(address: string, shown: (page: Page) => Promise<unknown>) => (page: Page) => Promise<void>} */
  const at = (address, shown) => async (page) => {
    await page.goto(address)
    await shown(page)
  }
  const firstRow = (/** @type {Page} */ page) => page.locator('tbody tr').first().waitFor()

  /** How each state is reached, signed in unless its name says otherwise. @type {Readonly<Record<string, (page: Page) => Promise<unknown>>>} */
  const ways = {
    'sign-in': async (page) => {
      await page.context().clearCookies()
      await page.goto(`${origin}/admin`)
      await page.locator('input[type=password]').waitFor()
    },
    home: at(`${origin}/admin`, heading),
    list: at(articles, rows),
    'list-200': async (page) => {
      await page.goto(`${origin}/admin/content/api::tag.tag`)
      await rows(page)
      await page.locator('tbody tr').last().scrollIntoViewIfNeeded()
    },
    'list-empty': at(`${articles}?q=nothing+has+this+text`, (page) => page.getByText('Nothing matches').waitFor()),
    selection: async (page) => {
      await page.goto(articles)
      await rows(page)
      for (const row of [1, 2]) await page.locator('tbody tr').nth(row).getByRole('checkbox').click({ force: true })
      await page.getByText('2 selected').waitFor()
    },
    editor: at(story, title),
    entries: async (page) => {
      await page.goto(story)
      await title(page)
      await page.locator('main [id$="extras"]').first().scrollIntoViewIfNeeded()
    },
    errors: async (page) => {
      await page.goto(`${articles}/${poor}`)
      await title(page)
      await page.getByRole('textbox', { name: 'Kicker' }).fill('x'.repeat(70))
      await page.getByText('too many').first().waitFor()
    },
    publish: async (page) => {
      await page.goto(`${articles}/${poor}`)
      await title(page)
      await page.keyboard.press('Control+Enter')
      await page
        .getByRole('dialog')
        .getByText(/needed/)
        .waitFor()
    },
    languages: at(`${story}?beside=de`, title),
    comparison: at(`${story}/compare`, heading),
    palette: async (page) => {
      await page.goto(articles)
      await rows(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('tram')
      await page.getByRole('dialog').getByRole('option', { name: /Tram/ }).first().waitFor()
    },
    'long-words': at(`${articles}/${long}`, title),
    'long-words-list': at(`${articles}?q=Donau`, firstRow),
    'right-to-left': async (page) => {
      await page.goto(`${articles}/${arabic}?locale=ar`)
      await title(page)
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
    },
    'right-to-left-list': async (page) => {
      await page.goto(`${articles}?locale=ar`)
      await page.locator('tbody tr').first().waitFor()
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
    },
    loading: async (page) => {
      await page.route('**/admin/api/content/**', () => {})
      await page.goto(story)
      await setTimeout(1_500)
    },
    failure: async (page) => {
      await page.route('**/admin/api/content/**', (route) => route.fulfill({ status: 500, json: { error: { status: 500 } } }))
      await page.goto(articles)
      await page.getByRole('button', { name: /again/i }).first().waitFor()
    },
    missing: at(`${articles}/aaaaaaaaaaaaaaaaaaaaaaaa`, (page) => page.getByText('does not exist').waitFor()),
  }
  const looks = /** @type {const} */ ([
    ['light', 1280, 820, 'light'],
    ['dark', 1280, 820, 'dark'],
    ['phone', 390, 844, 'light'],
  ])
  for (const [look, width, height, colorScheme] of looks) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: 'en-GB', reducedMotion: 'reduce' })
    context.setDefaultTimeout(120_000)
    await signIn(await context.newPage())
    const names = Object.keys(ways).filter((name) => only.length === 0 || only.includes(name))
    // The last one, because it ends the session.
    for (const name of names.sort((one, other) => Number(one === 'sign-in') - Number(other === 'sign-in'))) {
      const page = await context.newPage()
      await ways[name]?.(page).catch((error) => console.error(`${name}, ${look}: ${error.message.split('\n')[0]}`))
      await setTimeout(700)
      await page.screenshot({ path: join(target, `${name}-${look}.png`) })
      await page.close()
    }
    await context.close()
  }
}
