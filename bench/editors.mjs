// The page for editors next to the panel of Strapi 5.54, on the same database and in the same browser: what the first load of a screen takes,
// and the processor time for what editors do. The floor of a key press is a page of bare inputs without a script. Run: node
// bench/editors.mjs [--rounds 3] [--pictures FOLDER] [--without-strapi]
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from './launch.mjs'
import { createAdministrator, openBrowser, pageHeaders, signIn, startPage, startPanel } from './panel.mjs'
import { median } from './report.mjs'
import { copyDatabase } from './servers.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pictures: { type: 'string' },
    'without-strapi': { type: 'boolean', default: false },
  },
})
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
/** @typedef {import('playwright-core').CDPSession} Session */
/** @typedef {(what: string, value: number) => void} Note */
/** @typedef {'floor' | 'page' | 'panel'} Side */

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

/**
 * Processor milliseconds of the process that shows the page, or of its main thread alone.
 * @param {Session} session
 * @param {'ProcessTime' | 'TaskDuration'} metric
 */
async function processorTime(session, metric) {
  const { metrics } = await session.send('Performance.getMetrics')
  const found = metrics.find(({ name }) => name === metric)
  if (found === undefined) throw new Error(`This browser does not measure ${metric}`)
  return 1_000 * found.value
}

/** Longest wait for a calm moment, in half seconds. */
const longestWait = 30

/** Waits until the page has nothing more to do; resolves to the processor milliseconds of its process so far. @param {Session} session */
async function untilIdle(session) {
  let [before, calm] = [await processorTime(session, 'ProcessTime'), 0]
  for (let wait = 0; calm < 2 && wait < longestWait; wait++) {
    await setTimeout(500)
    const now = await processorTime(session, 'ProcessTime')
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
 * Notes the time of the main thread for each of some letters.
 * @param {Session} session
 * @param {Note} note
 * @param {string} what
 * @param {import('playwright-core').Locator} box
 */
async function typeLetters(session, note, what, box) {
  const letters = 'abcdefghijklmnopqrst'
  await box.click()
  await untilIdle(session)
  const before = await processorTime(session, 'TaskDuration')
  await box.pressSequentially(letters, { delay: 80 })
  await untilIdle(session)
  note(what, ((await processorTime(session, 'TaskDuration')) - before) / letters.length)
}

const keyOf200 = 'a key in a field of 200: main thread (ms)'

/** As many bare inputs. @param {Note} note */
async function measureFloor(note) {
  const { page, context, close } = await openBrowser()
  const field = '<p><label>A field<br><input style="width: 600px; padding: 8px" value="The value"></label></p>'
  await page.setContent(`<body style="font: 14px sans-serif">${field.repeat(200)}`)
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  await typeLetters(session, note, keyOf200, page.locator('input').nth(99))
  await close()
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
    const cost = async (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ act) => {
      const before = await untilIdle(session)
      await act()
      note(what, (await untilIdle(session)) - before)
    }
    await typeLetters(session, note, keyOf200, field)
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
    if (!isPanel) {
      await typeLetters(session, note, 'a key in the search above 50 rows: main thread (ms)', search)
      await search.fill('')
    }
    await cost('a word of 5 letters in the search, and its rows (ms)', async () => {
      await search.pressSequentially('story', { delay: 100 })
      await search.press('Enter')
    })
    await open('opening a document of 200 fields (ms)', wideAt, () => field.waitFor())
    const name = page.getByRole('textbox', { name: /^name\b/i })
    await open('opening a dynamic zone of 300 (ms)', `${content}/api::long.long/${ids.long}`, () => name.waitFor())
    await picture('long')
    await typeLetters(session, note, 'a key in a field above a dynamic zone of 300: main thread (ms)', name)
  } finally {
    await browser.close()
  }
}

const database = copyDatabase(temporaryFolder())
const ids = await fill(database)
/** @type {Map<string, Record<Side, number[]>>} */
const figures = new Map()
/** @type {(side: Side) => Note} */
const noteOf = (side) => (what, value) => {
  console.error(`${side}: ${what} ${value.toFixed(1)}`)
  const found = figures.get(what) ?? { floor: [], page: [], panel: [] }
  found[side].push(value)
  figures.set(what, found)
}
for (let round = 0; round < rounds; round++) {
  await measureFloor(noteOf('floor'))
  for (const side of /** @type {const} */ (values['without-strapi'] ? ['page'] : ['page', 'panel'])) {
    // One service at a time, on the same file.
    const server = side === 'panel' ? await startPanel(database, types) : await startPage(database, { types })
    await measure(server.origin, side === 'panel', ids, noteOf(side))
    await server.stop()
  }
}

/** @param {readonly number[]} measured */
const shown = (measured) => {
  if (measured.length === 0) return ''
  const value = median(measured)
  return value.toFixed(value < 10 && !Number.isInteger(value) ? 1 : 0)
}
console.log(`| what, median of ${rounds} | floor | page | panel | panel / page |\n| --- | --- | --- | --- | --- |`)
for (const [what, { floor, page, panel }] of figures) {
  const ratio = panel.length === 0 ? '' : (median(panel) / median(page)).toFixed(1)
  console.log(`| ${what} | ${shown(floor)} | ${shown(page)} | ${shown(panel)} | ${ratio} |`)
}
