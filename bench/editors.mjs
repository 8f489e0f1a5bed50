// The page for editors next to the panel of Strapi 5.54, on the same database and in the same browser: what the first load of a screen takes,
// and the processor time of its process for what editors do. Run: node bench/editors.mjs [--rounds 3] [--pictures FOLDER]
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from './launch.mjs'
import { createAdministrator, openBrowser, pageHeaders, signIn, startPage, startPanel } from './panel.mjs'
import { median } from './report.mjs'
import { copyDatabase } from './servers.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, pictures: { type: 'string' } } })
const rounds = Number(values.rounds)

/** Types that a real project would not have so large. */
const types = {
  wide: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index + 1}`, { type: 'string' }])),
  long: { name: { type: 'string' }, zone: { type: 'dynamiczone', components: ['blocks.quote'] } },
}
const wide = Object.fromEntries(Object.keys(types.wide).map((name) => [name, `The value of ${name}`]))
const long = {
  name: 'Three hundred',
  zone: Array.from({ length: 300 }, (_, index) => ({ __component: 'blocks.quote', text: `Quote ${index + 1}`, cite: 'Somebody' })),
}

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {(what: string, value: number) => void} Note */

/** Creates the administrator and the documents; returns the ids of these. @param {string} database */
async function fill(database) {
  createAdministrator(database)
  const server = await startPage(database, { types })
  const headers = await pageHeaders(server.origin)
  const create = async (/** @type {string} */ type, /** @type {object} */ data) => {
    const address = `${server.origin}/admin/api/content/${type}`
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ data }) })
    if (!response.ok) throw new Error(`${type}: ${response.status} ${await response.text()}`)
    return (await response.json()).data.documentId
  }
  const ids = { wide: await create('api::wide.wide', wide), long: await create('api::long.long', long) }
  // More than the 50 rows of a page.
  for (let index = 0; index < 60; index++)
    await create('api::article.article?locale=en', { title: `A story of the sea, ${index}`, rank: index })
  await server.stop()
  return ids
}

/** Processor milliseconds of the process that shows the page. @param {import('playwright-core').CDPSession} session */
async function processorTime(session) {
  const { metrics } = await session.send('Performance.getMetrics')
  const found = metrics.find(({ name }) => name === 'ProcessTime')
  if (found === undefined) throw new Error('This browser does not tell the time of a process')
  return 1_000 * found.value
}

/** Longest wait for a calm moment, in half seconds. */
const longestWait = 30

/** Waits until the page has nothing more to do; resolves to the processor milliseconds so far. @param {import('playwright-core').CDPSession} session */
async function untilIdle(session) {
  let [before, calm] = [await processorTime(session), 0]
  for (let wait = 0; calm < 2 && wait < longestWait; wait++) {
    await setTimeout(500)
    const now = await processorTime(session)
    calm = now - before < 25 ? calm + 1 : 0
    before = now
  }
  return before
}

/** Loads a screen without a cache: requests, and kilobytes of scripts and styles with gzip. @param {Page} page @param {string} address @param {() => Promise<unknown>} shown */
async function firstLoad(page, address, shown) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  await session.detach()
  let requests = 0
  const sizes = []
  const note = (/** @type {import('playwright-core').Response} */ response) => {
    requests++
    if (!['script', 'stylesheet'].includes(response.request().resourceType())) return
    sizes.push(
      response.body().then(
        (bytes) => gzipSync(bytes).length,
        () => 0,
      ),
    )
  }
  page.on('response', note)
  await page.goto(address)
  await shown()
  // Streams of events never end, so that the network is never idle.
  await setTimeout(3_000)
  page.off('response', note)
  return { requests, kilobytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1_000 }
}

/**
 * One round with one of the two.
 * @param {string} origin
 * @param {boolean} isPanel
 * @param {{ wide: string, long: string }} ids
 * @param {Note} note
 */
async function measure(origin, isPanel, ids, note) {
  const browser = await openBrowser()
  const { page } = browser
  const content = isPanel ? `${origin}/admin/content-manager/collection-types` : `${origin}/admin/content`
  const articles = `${content}/api::article.article${isPanel ? '?page=1&pageSize=50&sort=title:ASC' : ''}`
  const picture = (/** @type {string} */ name) =>
    values.pictures === undefined ? null : page.screenshot({ path: join(values.pictures, `${name}-${isPanel ? 'panel' : 'page'}.png`) })
  const rows = () => page.locator('tbody tr').nth(49).waitFor()
  const field = page.getByRole('textbox', { name: /^field ?100\b/i })
  const wideAt = `${content}/api::wide.wide/${ids.wide}`
  try {
    const load = async (/** @type {string} */ screen, /** @type {string} */ address, /** @type {() => Promise<unknown>} */ shown) => {
      const { requests, kilobytes } = await firstLoad(page, address, shown)
      note(`first load of ${screen}: requests`, requests)
      note(`first load of ${screen}: scripts and styles with gzip (kB)`, kilobytes)
    }
    await load('the sign-in', `${origin}/admin`, () => page.locator('input[type=password]').waitFor())
    await signIn(page, origin, isPanel)
    await load('a list', articles, rows)
    await picture('list')
    await load('an editor', wideAt, () => field.waitFor())
    await picture('wide')

    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    /** @param {string} what @param {() => Promise<unknown>} act @param {number} [times] */
    const cost = async (what, act, times = 1) => {
      const before = await untilIdle(session)
      await act()
      note(what, ((await untilIdle(session)) - before) / times)
    }
    const key = (/** @type {import('playwright-core').Locator} */ box) => box.pressSequentially('abcdefghijklmnopqrst', { delay: 30 })
    await cost('a key in a field of 200 (ms)', () => key(field), 20)
    /** Opens a screen as a new page in the same process, from the cache. */
    const open = async (/** @type {string} */ what, /** @type {string} */ address, /** @type {() => Promise<unknown>} */ shown) => {
      page.once('dialog', (dialog) => void dialog.accept())
      await cost(what, async () => {
        await page.goto(address)
        await shown()
      })
    }
    await open('opening a list of 50 rows (ms)', articles, rows)
    if (isPanel) await page.getByRole('button', { name: 'Search', exact: true }).first().click()
    const search = isPanel ? page.locator('input[name=search]') : page.getByRole('searchbox').first()
    await cost('a word of 5 letters in the search, and its rows (ms)', async () => {
      await search.pressSequentially('story', { delay: 100 })
      await search.press('Enter')
    })
    await open('opening a document of 200 fields (ms)', wideAt, () => field.waitFor())
    const name = page.getByRole('textbox', { name: /^name\b/i })
    await open('opening a dynamic zone of 300 (ms)', `${content}/api::long.long/${ids.long}`, () => name.waitFor())
    await picture('long')
    await cost('a key in a field above a dynamic zone of 300 (ms)', () => key(name), 20)
  } finally {
    await browser.close()
  }
}

const database = copyDatabase(temporaryFolder())
const ids = await fill(database)
/** @type {Map<string, { page: number[], panel: number[] }>} */
const figures = new Map()
for (let round = 0; round < rounds; round++)
  for (const side of /** @type {const} */ (['page', 'panel'])) {
    // One service at a time, on the same file.
    const server = side === 'panel' ? await startPanel(database, types) : await startPage(database, { types })
    await measure(server.origin, side === 'panel', ids, (what, value) => {
      console.error(`${side}: ${what} ${value.toFixed(1)}`)
      const found = figures.get(what) ?? { page: [], panel: [] }
      found[side].push(value)
      figures.set(what, found)
    })
    await server.stop()
  }

console.log(`| what, median of ${rounds} | page | panel | panel / page |\n| --- | --- | --- | --- |`)
for (const [what, { page, panel }] of figures) {
  const [own, theirs] = [median(page), median(panel)]
  const digits = own < 10 && !Number.isInteger(own) ? 1 : 0
  console.log(`| ${what} | ${own.toFixed(digits)} | ${theirs.toFixed(digits)} | ${(theirs / own).toFixed(1)} |`)
}
