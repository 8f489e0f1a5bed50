// Saving in a browser: not a letter is missing after closed tabs, lost connections, restarts of the service, and ended sessions (R66).
import { createServer, request as sendTo } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { adminPassword, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import { type Served, serveExisting } from '../../support/serve.js'
import { isThorough } from '../../support/thorough.js'
import { patience, until } from '../../support/until.js'
import { ada, type OpenPage, openPage, servePage } from './page.js'

/** What ends while somebody types. */
const ends = ['closed', 'crashed', 'crashed later', 'reloaded', 'service restarted', 'session ended'] as const

/** Ends during one text: each once, or with FAULTS=all a thousand. */
const kills = isThorough ? 1_000 : ends.length

const type = 'api::article.article'
/** A type with few fields, which a tab shows soon. */
const letterType = 'api::letter.letter'
const words = 'the mill at the sea has a wheel that turns only at night when nobody looks'.split(' ')

/** Numbers between 0 and 1 from a seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** A way to the service on which requests that save are lost, lose their responses, or are late; routes of the browser would end its cache. */
async function openLossyWay(origin: string) {
  const random = createRandom(29)
  const { hostname, port } = new URL(origin)
  let isLossy = true
  const server = createServer((request, response) => {
    const fate = isLossy && request.method === 'PATCH' ? random() : 1
    if (fate < 0.25) return request.socket.destroy()
    const { method, url, headers } = request
    const onwards = sendTo({ hostname, port, method, path: url, headers }, (received) => {
      if (fate < 0.5) return request.socket.destroy()
      response.writeHead(received.statusCode!, received.headers)
      received.pipe(response)
      received.on('error', () => response.destroy())
    })
    onwards.on('error', () => response.destroy())
    response.on('close', () => onwards.destroy())
    setTimeout(() => request.pipe(onwards), fate < 0.7 ? 1_500 * random() : 0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on nothing is lost. */
    mend: () => {
      isLossy = false
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What a browser has of unsaved documents. */
interface BrowserCopies {
  /** Last copies of pages that were left. */
  readonly left: readonly unknown[]
  readonly stored: readonly { readonly id: string; readonly documentId: string }[]
  /** Locks of open forms. */
  readonly held: readonly string[]
}

/** Reads the copies of a browser. */
async function copiesOfBrowser(): Promise<string> {
  const left = Object.entries(localStorage).filter(([name]) => name.startsWith('octavo-copy-'))
  const stored = await new Promise((resolve) => {
    const opening = indexedDB.open('octavo', 1)
    opening.onsuccess = () => {
      const reading = opening.result.transaction('copies', 'readonly').objectStore('copies').getAll()
      reading.onsuccess = () => resolve(reading.result)
    }
  })
  const { held = [] } = await navigator.locks.query()
  const shown = [...document.querySelectorAll('input')].map(({ value }) => value)
  return JSON.stringify({ left, stored, held: held.map(({ name }) => name), shown, at: Date.now() })
}

/** Ends the process of a tab. */
async function crash(tab: Page): Promise<void> {
  const crashed = tab.waitForEvent('crash')
  const session = await tab.context().newCDPSession(tab)
  void session.send('Page.crash').catch(() => {})
  await crashed
}

describeWith(['Chromium'], 'saving in a browser', () => {
  let served: Served
  let open: OpenPage
  let token: string
  let document: string
  /** The tab of the test. */
  let page: Page

  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    requestAdmin(served, path, { method, token, body, headers })
  const stored = async (): Promise<Record<string, unknown>> => (await api('GET', `/content/${type}/${document}?locale=en`)).body.data.draft
  const title = () => page.getByRole('textbox', { name: 'Title' }).first()
  const isStored = (value: string) => until(`the title "${value}" is stored`, async () => (await stored()).title === value)
  const openDocument = async () => {
    await page.goto(`${served.origin}/admin/content/${type}/${document}`)
    await title().waitFor()
  }
  const copiesOfDocument = async () =>
    (JSON.parse(await page.evaluate(copiesOfBrowser)) as BrowserCopies).stored.filter(({ documentId }) => documentId === document)
  /** Closes the tab without a farewell, and opens another one. */
  const killTab = async () => {
    const next = await page.context().newPage()
    await page.close({ runBeforeUnload: false })
    page = next
  }

  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })
  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
    const made = await api('POST', `/content/${type}?locale=en`, { data: { title: 'Mill' } })
    document = made.body.data.documentId
    page = open.page
    await open.signIn(ada)
  })

  test('what is written is there after leaving and coming back', async () => {
    await openDocument()
    await title().fill('The mill that waits')
    // Before the end of the pause.
    await page.getByRole('link', { name: 'Home' }).first().click()
    await isStored('The mill that waits')
    await openDocument()
    expect(await title().inputValue()).toBe('The mill that waits')
    open.expectNoProblems()
  })

  test('a tab that is closed within a second of a key leaves a copy or a saved document', async () => {
    page = await open.page.context().newPage()
    await openDocument()
    await title().press('End')
    await title().pressSequentially(' of the sea')
    await page.waitForTimeout(350)
    await killTab()
    await openDocument()
    const notice = page.getByRole('button', { name: 'Show them' })
    await until('the text or its copy', async () => (await title().inputValue()) === 'Mill of the sea' || (await notice.isVisible()))
    if (await notice.isVisible()) await notice.click()
    await until('the text', async () => (await title().inputValue()) === 'Mill of the sea')
    await isStored('Mill of the sea')
    await page.close()
  })

  test('a page that is loaded again in the middle of a word has every letter', async () => {
    page = await open.page.context().newPage()
    await openDocument()
    await page.route('**/admin/api/content/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
    await title().press('End')
    await title().pressSequentially(' of the sea')
    await page.reload()
    await page.unrouteAll()
    // Twice: the copy is opened once, and what is typed then is not in the form of a second one.
    await page.getByRole('button', { name: 'Show them' }).dblclick()
    await until('the text', async () => (await title().inputValue()) === 'Mill of the sea')
    await title().press('End')
    await title().pressSequentially(' and on')
    await isStored('Mill of the sea and on')
    expect(await title().inputValue()).toBe('Mill of the sea and on')
    await page.close()
  })

  test('the copy of a tab that ends later than the document is opened in another one is offered there', async () => {
    const first = await open.page.context().newPage()
    page = first
    await openDocument()
    await page.route('**/admin/api/content/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
    await title().press('End')
    await title().pressSequentially(' of the sea')
    await until('the copy', async () => (await first.evaluate(copiesOfBrowser)).includes('Mill of the sea'))
    page = await open.page.context().newPage()
    await openDocument()
    const notice = page.getByRole('button', { name: 'Show them' })
    expect(await notice.isVisible()).toBe(false)
    await crash(first)
    await first.close()
    await notice.click()
    await until('the text', async () => (await title().inputValue()) === 'Mill of the sea')
    await isStored('Mill of the sea')
    await page.close()
  })

  test('a copy that the server has, since only the response was lost, is deleted and not offered', async () => {
    const first = await open.page.context().newPage()
    page = first
    await openDocument()
    await page.route('**/admin/api/content/**', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await title().press('End')
    await title().pressSequentially(' of the sea')
    await isStored('Mill of the sea')
    page = await open.page.context().newPage()
    await openDocument()
    // A slow browser may have stored the copy of an earlier text only.
    await until('the copy has the whole text', async () => JSON.stringify(await copiesOfDocument()).includes('Mill of the sea'))
    expect(await copiesOfDocument()).toHaveLength(1)
    await crash(first)
    await first.close()
    await until('no copy is left', async () => (await copiesOfDocument()).length === 0)
    expect(await page.getByRole('button', { name: 'Show them' }).count()).toBe(0)
    expect(await title().inputValue()).toBe('Mill of the sea')
    await page.close()
  })

  test('a new document is made with its first value, and typing goes on in the same field', async () => {
    await page.goto(`${served.origin}/admin/content/${type}/new`)
    await title().waitFor()
    for (const word of words.slice(0, 6)) {
      await title().pressSequentially(`${word} `)
      await page.waitForTimeout(400)
    }
    await page.waitForURL((url) => !url.pathname.endsWith('/new'))
    await title().pressSequentially('end')
    const text = `${words.slice(0, 6).join(' ')} end`
    expect(await title().inputValue()).toBe(text)
    document = new URL(page.url()).pathname.split('/').at(-1)!
    await isStored(text)
    const { body } = await api('GET', `/content/${type}?filters[title][$eq]=${encodeURIComponent(text)}`)
    expect(body.data).toHaveLength(1)
    open.expectNoProblems()
  })

  test('offline typing goes on, says so, and is saved when the network is back', async () => {
    await openDocument()
    await page.context().setOffline(true)
    await title().fill('Written offline')
    await page.getByText('No connection to the service.').waitFor()
    await page.getByText('Not saved yet').waitFor()
    expect(await page.getByText(/saved in this browser|stored in this browser/).count()).toBe(1)
    await title().pressSequentially(', and on')
    await page.context().setOffline(false)
    await isStored('Written offline, and on')
    await page.getByText(/^Saved/).waitFor()
    open.expectNoProblems(/ERR_INTERNET_DISCONNECTED|Failed to load resource/)
  })

  test('a service that is restarted while somebody types gets all of it', async () => {
    await openDocument()
    const { port } = new URL(served.origin)
    const text: string[] = []
    await title().fill('')
    for (const [index, word] of words.slice(0, 9).entries()) {
      if (index === 3) await served.service.close()
      await title().pressSequentially(`${word} `)
      text.push(word)
      await page.waitForTimeout(300)
      if (index === 6) Object.assign(served, await serveExisting(served, { PORT: port }), { close: served.close })
    }
    token = (await signInAdmin(served, ada)).accessToken
    await isStored(`${text.join(' ')} `)
    open.expectNoProblems(/ERR_|Failed to load resource/)
  })

  test('when the session ends while somebody types, nothing moves, and the next sign-in saves', async () => {
    await openDocument()
    await served.sql('DELETE FROM strapi_sessions')
    await title().fill('Typed on')
    const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
    await dialog.waitFor()
    await dialog.getByRole('textbox', { name: 'Password' }).fill(adminPassword)
    await page.keyboard.press('Enter')
    token = (await signInAdmin(served, ada)).accessToken
    await isStored('Typed on')
    expect(await title().inputValue()).toBe('Typed on')
    open.expectNoProblems(/Failed to load resource/)
  })

  test(`typing through ${kills} kills, with lost, repeated and slow requests, loses no letter, and fields never jump`, async () => {
    const counts: Record<string, number> = {}
    const count = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1
    }
    let left = kills

    /** Types into a document of a service of its own, in a browser of its own. Tab, service and session end again and again. */
    const typeAndKill = async (seed: number) => {
      const random = createRandom(seed)
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
      const home = await servePage()
      const way = await openLossyWay(home.origin)
      const { accessToken } = await signInAdmin(home, ada)
      const data = { heading: 'Mill' }
      const made = await requestAdmin(home, `/content/${letterType}`, { method: 'POST', token: accessToken, body: { data } })
      const { documentId } = made.body.data
      const address = `${way.origin}/admin/content/${letterType}/${documentId}`
      const own = await openPage(home)
      const context = own.page.context()
      context.setDefaultTimeout(patience.timeout)
      let tab = await context.newPage()
      const field = () => tab.getByRole('textbox', { name: 'Heading' }).first()
      let text = 'Mill'
      /** What was there long enough to be copied. */
      let copied = text
      /** The rule allows 300 ms until a change is copied; counted by the tab, whose timers are late on a busy machine. */
      const leaveTimeToCopy = async () => {
        await tab.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)))
        copied = text
      }
      const show = async () => {
        await tab.goto(address)
        await field().waitFor()
      }
      /** Whether the killed tab is gone, and no copy of it is left to decide about. */
      const isDecided = async (): Promise<boolean> => {
        const { left: last, stored: all, held } = JSON.parse(await tab.evaluate(copiesOfBrowser)) as BrowserCopies
        const open = held.filter((name) => name.startsWith('octavo-copy-'))
        return open.length === 1 && last.length === 0 && all.every(({ id }) => open.includes(`octavo-copy-${id}`))
      }
      const press = async (name: string): Promise<boolean> => {
        const button = tab.getByRole('button', { name, exact: true })
        if (!(await button.isVisible())) return false
        // It goes by itself, too.
        return button.click({ timeout: 10_000 }).then(
          () => true,
          () => false,
        )
      }
      const typeWord = async () => {
        if (text.length > 90) {
          text = 'Mill'
          await field().fill(text)
          await leaveTimeToCopy()
        }
        await field().press('End')
        const letters = ` ${pick(words).slice(0, 3)}`
        await field().pressSequentially(letters)
        text += letters
        expect(await field().inputValue()).toBe(text)
        await tab.waitForTimeout(700 * random())
      }
      const restart = async () => {
        await home.service.close()
        await typeWord()
        Object.assign(home, await serveExisting(home, { PORT: new URL(home.origin).port }), { close: home.close })
      }
      const endSession = async () => {
        await home.sql('DELETE FROM strapi_sessions')
        await typeWord()
        const password = tab.getByRole('textbox', { name: 'Password' })
        await password.fill(adminPassword)
        await password.press('Enter')
        await password.waitFor({ state: 'detached' })
      }
      await show()
      while (left-- > 0) {
        const presses = 1 + Math.floor(4 * random())
        for (let pressed = 0; pressed < presses; pressed++) await typeWord()
        const end = isThorough ? pick(ends) : ends[left]!
        if (end === 'crashed later') await leaveTimeToCopy()
        if (end === 'reloaded') await tab.reload()
        else if (end === 'service restarted') await restart()
        else if (end === 'session ended') await endSession()
        else {
          const killed = tab
          tab = await context.newPage()
          if (end !== 'closed') await crash(killed)
          await killed.close({ runBeforeUnload: false })
          await show()
        }
        await field().waitFor()
        // A tab that is closed or reloaded has its last moment; a crashed one does not, so that its last letters may be missing.
        const isKept = (value: string) => (end === 'crashed' ? text.startsWith(value) && value.startsWith(copied) : value === text)
        let isFromCopy = false
        await until(`"${text}", ${end}`, async () => {
          if (!isKept(await field().inputValue())) {
            if (await press('Show them')) isFromCopy = true
            return false
          }
          if (await isDecided()) return true
          // What the field has already need not be shown.
          await press('Discard')
          return false
        }).catch(async ({ message }: Error) => {
          throw new Error(`${message}; the browser has ${await tab.evaluate(copiesOfBrowser)}`)
        })
        if (isFromCopy) count('from a copy')
        const kept = await field().inputValue()
        count(end)
        if (kept !== text) count('the last letters before a crash were missing')
        text = kept
        copied = kept
        count('kills')
        if (isThorough && counts.kills! % 10 === 0) console.log(JSON.stringify(counts))
      }
      way.mend()
      const reader = await signInAdmin(home, ada)
      const heading = async () =>
        (await requestAdmin(home, `/content/${letterType}/${documentId}`, { token: reader.accessToken })).body.data.draft.heading
      await until(`"${text}" is stored`, async () => (await heading()) === text)
      await own.close()
      way.close()
      await home.close()
    }
    await Promise.all(Array.from({ length: isThorough ? 4 : 1 }, (_, index) => typeAndKill(29 + index)))
  })

  describe('two people', () => {
    /** Somebody else's change. */
    const theirs = async (changes: unknown, lists: unknown = {}) => {
      const { headers } = await api('GET', `/content/${type}/${document}?locale=en`)
      const answer = await api('PATCH', `/content/${type}/${document}?locale=en`, { changes, lists }, { 'if-match': headers.get('etag')! })
      expect(answer.status).toBe(200)
    }

    test('different fields are merged, and a message says who changed what without moving the fields', async () => {
      await openDocument()
      const place = await title().boundingBox()
      await theirs({ kicker: 'Theirs' })
      await title().fill('Mine')
      await isStored('Mine')
      await page
        .getByText(/Ada Lovelace changed Kicker/)
        .first()
        .waitFor()
      expect(await title().boundingBox()).toEqual(place)
      expect(await page.getByRole('textbox', { name: 'Kicker' }).inputValue()).toBe('Theirs')
      expect((await stored()).kicker).toBe('Theirs')
      open.expectNoProblems(/412/)
    })

    test.each([
      ['Keep mine', 'Mine'],
      ['Take theirs', 'Theirs'],
    ])('the same field shows both values until one is chosen: %s', async (choice, outcome) => {
      await openDocument()
      await theirs({ title: 'Theirs' })
      await title().fill('Mine')
      const button = page.getByRole('button', { name: choice }).first()
      await button.waitFor()
      expect((await stored()).title).toBe('Theirs')
      expect(await title().inputValue()).toBe('Mine')
      await button.click()
      await isStored(outcome)
      expect(await title().inputValue()).toBe(outcome)
      open.expectNoProblems(/412/)
    })

    test('an undecided conflict is there again after a reload, with the person, the field and the time', async () => {
      await openDocument()
      await theirs({ title: 'Theirs' })
      await title().fill('Mine')
      await page.getByRole('button', { name: 'Keep mine' }).first().waitFor()
      for (const choice of ['Keep mine', 'Take theirs']) {
        await page.reload()
        await page.getByRole('group', { name: /^Ada Lovelace \(.*\d+:\d\d.*\) changed this too/ }).waitFor()
        await page.getByText(/^Ada Lovelace \(.*\) changed Title, and so did you/).waitFor()
        expect(await page.getByRole('button', { name: choice }).count()).toBe(1)
        expect(await page.getByRole('button', { name: 'Show them' }).count()).toBe(0)
        expect(await title().inputValue()).toBe('Mine')
      }
      expect((await stored()).title).toBe('Theirs')
      await page.getByRole('button', { name: 'Keep mine' }).click()
      await isStored('Mine')
      await page.reload()
      await title().waitFor()
      expect(await page.getByRole('button', { name: 'Keep mine' }).count()).toBe(0)
      open.expectNoProblems(/412/)
    })

    test('a change of others arrives without a save of mine, and their name is at the document', async () => {
      await openDocument()
      const other = await open.page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('textbox', { name: 'Kicker' }).fill('From another tab')
      await until('the kicker', async () => (await page.getByRole('textbox', { name: 'Kicker' }).inputValue()) === 'From another tab')
      await page.getByText('Viewing: Ada Lovelace').first().waitFor()
      await other.close()
      open.expectNoProblems()
    })

    test('a document that somebody deleted can be made again with my values', async () => {
      await openDocument()
      const { headers } = await api('GET', `/content/${type}/${document}?locale=en`)
      await api('DELETE', `/content/${type}/${document}?locale=en`, undefined, { 'if-match': headers.get('etag')! })
      await title().fill('Not lost')
      await page.getByRole('button', { name: 'Create it again with these values' }).click()
      await until('the document is there again', async () => {
        const { body } = await api('GET', `/content/${type}?filters[title][$eq]=${encodeURIComponent('Not lost')}`)
        return body.data.length === 1
      })
      open.expectNoProblems(/404/)
    })
  })
})
