// The pages for users in a real browser: from the link of an e-mail to a sign-in with the new password.
import { afterAll, beforeAll, expect } from 'vitest'
import { letters, logIn, post, serveAccounts, setAccounts } from '../account/golden.js'
import { listenForMail, type MailServer } from '../account/mail-server.js'
import { faintTexts, type OpenBrowser, openBrowser } from '../support/browser.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { patience } from '../support/until.js'

describeWith(['Chromium'], 'in a browser', () => {
  let mail: MailServer
  let served: Served
  let browser: OpenBrowser
  /** Requests of the browser, with the `Referer`. */
  const asked: (readonly [string, string | undefined])[] = []
  beforeAll(async () => {
    mail = await listenForMail()
    served = await serveAccounts({
      config: { limits: { authRateLimit: 4 } },
      environment: { SMTP_URL: mail.url, MAIL_FROM: 'post@site.test', NODE_ENV: 'production' },
    })
    browser = await openBrowser({ viewport: { width: 320, height: 640 } })
    browser.page.on('request', (request) => asked.push([request.url(), request.headers().referer || undefined]))
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    mail?.close()
  })

  let letterCount = 0
  /** The link in an e-mail of a kind, which leads to this service. */
  async function linkOf(form: RegExp): Promise<string> {
    const text = await mail.letter(++letterCount)
    const [link] = form.exec(text)!
    return link.replace(/^http:\/\/localhost:\d+/, served.origin)
  }
  const resetLink = async (email: string) => {
    await post(served, '/api/auth/forgot-password', { email })
    return linkOf(/http:\S+#code=[0-9a-f]{64}/)
  }

  const field = (name: string) => browser.page.getByLabel(name, { exact: true })
  const result = () => browser.page.getByRole('status')
  async function fill(password: string, repeated = password): Promise<void> {
    await field('New password').fill(password)
    await field('New password, once more').fill(repeated)
    await field('New password, once more').press('Enter')
  }
  const typed = () => Promise.all(['New password', 'New password, once more'].map((name) => field(name).inputValue()))

  let used: string

  rule('accounts.31', 'the link of an e-mail sets a password, and no input is lost on the way', async () => {
    const { page, context } = browser
    used = await resetLink('erin@example.test')
    await page.goto(used)
    await field('New password').waitFor()
    expect(page.url()).toBe(`${served.origin}/_octavo/new-password`)
    await fill('erin-Secret2', 'erin-Secret3')
    await result().getByText('The two passwords are not the same.').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('repeated')
    await fill('short')
    await result().getByText('Password must be at least 6 characters.').waitFor()
    expect(await typed()).toEqual(['short', 'short'])
    await context.setOffline(true)
    await fill('erin-Secret2')
    await result().getByText('The service does not respond.').waitFor()
    expect(await typed()).toEqual(['erin-Secret2', 'erin-Secret2'])
    await context.setOffline(false)
    await page.keyboard.press('Enter')
    await result().getByText('The new password is set.').waitFor()
    expect([await page.locator('form').isVisible(), await typed()]).toEqual([false, ['', '']])
    const statuses = await Promise.all(['erin-Secret1', 'erin-Secret2'].map((password) => logIn(served, 'erin', password)))
    expect(statuses.map(({ status }) => status)).toEqual([400, 200])
    await page.reload()
    await page.getByText('This page needs the link from the e-mail').waitFor()
    expect(await page.locator('form').isVisible()).toBe(false)
  })

  rule('accounts.31', 'a used link says so, and the link of a newer e-mail replaces it in the same tab', async () => {
    const { page } = browser
    await page.goto(used)
    await fill('erin-Secret4')
    await result().getByText('This link has been used').waitFor()
    for (let tries = 0; tries < 5; tries++) {
      await page.getByRole('button').click()
      await expect.poll(() => result().textContent(), patience).not.toContain('Setting')
    }
    await result()
      .getByText(/^Too many attempts. Wait \d+ seconds?, then try again.$/)
      .waitFor()
    expect(await typed()).toEqual(['erin-Secret4', 'erin-Secret4'])
    expect((await logIn(served, 'erin', 'erin-Secret4')).status).toBe(400)
    await page.goto(await resetLink('dan@example.test'))
    await expect.poll(() => page.url(), patience).toBe(`${served.origin}/_octavo/new-password`)
    expect(await result().textContent()).toBe('')
    await fill('dan-Secret2')
    await result().getByText('The new password is set.').waitFor()
    expect((await logIn(served, 'dan', 'dan-Secret2')).status).toBe(200)
  })

  rule('accounts.32', 'a confirmation link ends at a page, and one that is refused at another', async () => {
    const { page } = browser
    await setAccounts(served, { email_confirmation: true })
    await post(served, '/api/auth/local/register', { username: 'paged', email: 'paged@example.test', password: 'secret-123' })
    const link = await linkOf(/http:\S+confirmation=[0-9a-f]{64}/)
    for (let times = 0; times < 2; times++) {
      await page.goto(link)
      await page.getByRole('heading', { name: 'Your e-mail address is confirmed' }).waitFor()
    }
    expect((await logIn(served, 'paged', 'secret-123')).status).toBe(200)
    const refused = await page.goto(`${link}0`)
    await page.getByRole('heading', { name: 'This link confirms no address' }).waitFor()
    expect(refused?.status()).toBe(400)
  })

  rule('accounts.33', 'text has enough contrast, in light and dark, and nothing is wider than a small phone', async () => {
    const { page } = browser
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of ['/_octavo/new-password#code=x', '/_octavo/email-confirmed', '/api/auth/email-confirmation']) {
        await page.goto(served.origin)
        await page.goto(served.origin + path)
        if (path.includes('#')) await fill('a', 'b')
        expect([colorScheme, path, await page.evaluate(faintTexts)]).toEqual([colorScheme, path, []])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      }
    }
  })

  rule('accounts.31', 'without its script, the page says that it needs it', async () => {
    const plain = await openBrowser({ javaScriptEnabled: false })
    await plain.page.goto(`${served.origin}/_octavo/new-password#code=x`)
    await plain.page.getByText('This page needs JavaScript').waitFor()
    const isShown = await plain.page.locator('form').isVisible()
    await plain.close()
    expect(isShown).toBe(false)
  })

  rule('accounts.33', 'nothing that the pages do violates their policy, and no address with a code is sent on', async () => {
    expect(browser.problems.filter((problem) => !/status of (?:400|429)|ERR_INTERNET_DISCONNECTED/.test(problem))).toEqual([])
    const own = asked.filter(([url]) => url.includes('/_octavo/') || url.endsWith('/reset-password'))
    expect(own.length).toBeGreaterThan(10)
    expect(own.filter(([, referer]) => referer !== undefined)).toEqual([])
    expect(asked.filter(([url]) => /reset-password\?|_octavo\/[^#]*[0-9a-f]{64}/.test(url))).toEqual([])
    expect(await letters(served, 0)).toEqual([])
    expect(served.log.join('\n')).not.toMatch(/[0-9a-f]{64}/)
  })
})
