// Sign-in in a browser: first administrator, demo, passwords, invitations, and the end of a session while the page is open.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { listenForMail, type MailServer } from '../../account/mail-server.js'
import { addAdministrator, adminPassword, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import { type Served, serveMagazine } from '../../support/serve.js'
import { patience, until } from '../../support/until.js'
import { ada, expectAccessible, type OpenPage, openPage, servePage } from './page.js'

/** Refused sign-ins are errors in the console of the browser. */
const refused = /status of 40[01]/

const menu = ({ page }: OpenPage) => page.getByRole('navigation', { name: 'Main menu' })
const field = ({ page }: OpenPage, name: string) => page.getByLabel(name, { exact: true })
const press = ({ page }: OpenPage, name: string) => page.getByRole('button', { name, exact: true }).press('Enter')
const alertOf = ({ page }: OpenPage) => page.getByRole('alert')

async function fillCredentials(open: OpenPage, email: string, password: string): Promise<void> {
  await field(open, 'E-mail address').fill(email)
  await field(open, 'Password').fill(password)
  await field(open, 'Password').press('Enter')
}

async function signOut(open: OpenPage): Promise<void> {
  await menu(open).getByRole('button', { name: /Ada/ }).press('Enter')
  await open.page.getByRole('menuitem', { name: 'Sign out' }).press('Enter')
  await open.page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

describeWith(['Chromium'], 'the first administrator in a browser', () => {
  test('needs the code from the log', async () => {
    const served = await serveMagazine()
    const open = await openPage(served, null)
    try {
      const code = served.log.map((line) => /The code for the first one is ([A-Z2-9-]{19}),/.exec(line)?.[1]).find(Boolean)!
      await open.go('/')
      await open.page.getByRole('heading', { name: 'Create the first administrator' }).waitFor()
      await press(open, 'Create and sign in')
      expect(await field(open, 'Code from the log').getAttribute('aria-invalid')).toBe('true')
      await expectAccessible(open.page)
      await field(open, 'Code from the log').fill('AAAA-AAAA-AAAA-AAAA')
      await field(open, 'First name').fill('Ada')
      await field(open, 'E-mail address').fill(ada)
      await field(open, 'New password').fill('weak')
      await press(open, 'Create and sign in')
      await open.page.getByText('Still missing: at least 8 characters, an upper-case letter and a digit.').waitFor()
      await field(open, 'New password').fill(adminPassword)
      await press(open, 'Create and sign in')
      await expect.poll(() => alertOf(open).textContent()).toContain('This code is wrong')
      await field(open, 'Code from the log').fill(code)
      await press(open, 'Create and sign in')
      await open.page.getByRole('heading', { name: 'Hello, Ada' }).waitFor()
      open.expectNoProblems(refused)
    } finally {
      await open.close()
      await served.close()
    }
  })

  test('needs no code in development on this machine, and the demo takes one click', async () => {
    const served = await serveMagazine({ environment: { NODE_ENV: 'development' } })
    const open = await openPage(served, null)
    try {
      await open.go('/')
      await expectAccessible(open.page)
      await open.page.getByRole('link', { name: 'Create an administrator' }).press('Enter')
      await open.page.getByRole('heading', { name: 'Create the first administrator' }).waitFor()
      expect(await field(open, 'Code from the log').count()).toBe(0)
      await open.go('/')
      await press(open, 'Try it as the demo administrator')
      await open.page.getByRole('heading', { name: 'Hello, Demo' }).waitFor()
      open.expectNoProblems()
    } finally {
      await open.close()
      await served.close()
    }
  })
})

describeWith(['Chromium'], 'sign-in in a browser', () => {
  let mail: MailServer
  let served: Served
  let open: OpenPage
  beforeAll(async () => {
    mail = await listenForMail()
    served = await servePage({
      config: { limits: { authRateLimit: 0 } },
      environment: { SMTP_URL: mail.url, MAIL_FROM: 'post@site.test' },
    })
    open = await openPage(served, null)
  })
  afterEach(() => open?.page.context().clearCookies())
  afterAll(async () => {
    await open?.close()
    await served?.close()
    mail?.close()
  })

  test('a wrong password is refused, the address of a screen is where one arrives, and signing out ends it', async () => {
    await open.go('/content/api::tag.tag')
    await open.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expectAccessible(open.page)
    await press(open, 'Sign in')
    await open.page.getByText('Please enter your e-mail address.').waitFor()
    await fillCredentials(open, ada, 'Wrong-Horse-7')
    await expect.poll(() => alertOf(open).textContent()).toBe('The e-mail address or password is wrong.')
    await open.page.getByRole('button', { name: 'Deutsch' }).press('Enter')
    await expect.poll(() => alertOf(open).textContent()).toBe('E-Mail-Adresse oder Passwort ist falsch.')
    await expectAccessible(open.page)
    await open.page.getByRole('button', { name: 'English' }).press('Enter')
    await fillCredentials(open, ada, adminPassword)
    await menu(open).waitFor()
    expect(new URL(open.page.url()).pathname).toBe('/admin/content/api::tag.tag')
    await signOut(open)
    await open.page.reload()
    await open.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    open.expectNoProblems(refused)
  })

  test('staying signed in outlives the browser, otherwise the session ends with it', async () => {
    const expiry = async () => (await open.page.context().cookies(`${served.origin}/admin/api/session`))[0]!.expires
    await open.go('/')
    await fillCredentials(open, ada, adminPassword)
    await menu(open).waitFor()
    expect(await expiry()).toBe(-1)
    await signOut(open)
    await field(open, 'Stay signed in on this computer').press(' ')
    await fillCredentials(open, ada, adminPassword)
    await menu(open).waitFor()
    expect(await expiry()).toBeGreaterThan(Date.now() / 1000 + 86_400)
    open.expectNoProblems(refused)
  })

  test('the link in an e-mail sets a new password, once', async () => {
    await addAdministrator(served, 'ben@example.com', undefined, { firstname: 'Ben' })
    await open.go('/')
    await open.page.getByRole('link', { name: 'Forgot your password?' }).press('Enter')
    await field(open, 'E-mail address').fill('ben@example.com')
    await press(open, 'Send the link')
    await open.page.getByText('the e-mail is on its way').waitFor()
    const [, code] = /\/admin\/reset\/(\S+)/.exec(await mail.letter(1))!
    await open.go(`/reset/${code}`)
    await expectAccessible(open.page)
    await field(open, 'New password').fill('Correct-Horse-8')
    await press(open, 'Set password and sign in')
    await open.page.getByRole('heading', { name: 'Hello, Ben' }).waitFor()
    await open.go(`/reset/${code}`)
    await field(open, 'New password').fill('Correct-Horse-9')
    await press(open, 'Set password and sign in')
    await expect.poll(() => alertOf(open).textContent()).toContain('This link was used already')
    open.expectNoProblems(refused)
  })

  test('an invitation is accepted with a password', async () => {
    const { accessToken: token } = await signInAdmin(served, ada)
    const [{ id: role }] = (await served.sql('SELECT id FROM admin_roles WHERE code = ?', 'strapi-super-admin')) as [{ id: number }]
    const body = { email: 'eve@example.com', firstname: 'Eve', roles: [role] }
    const invited = await requestAdmin(served, '/admins', { method: 'POST', token, body })
    const [, code] = /\/admin\/invitation\/([\w-]+)/.exec(invited.text)!
    await open.go(`/invitation/${code}`)
    await open.page.getByText('You have been invited as eve@example.com').waitFor()
    await expectAccessible(open.page)
    await field(open, 'New password').fill(adminPassword)
    await press(open, 'Accept the invitation')
    await open.page.getByRole('heading', { name: 'Hello, Eve' }).waitFor()
    await open.go(`/invitation/${code}`)
    await expect.poll(() => alertOf(open).textContent()).toContain('This link was used already')
    open.expectNoProblems(refused)
  })
})

describeWith(['Chromium'], 'a session in a browser', () => {
  let served: Served
  beforeAll(async () => {
    // Tokens are renewed after a second.
    served = await servePage({ config: { admin: { sessions: { accessTokenLifespan: 21_000 } }, limits: { authRateLimit: 0 } } })
  })
  afterAll(() => served?.close())

  test('that ends asks for the password over the page, which stays as it was', async () => {
    const open = await openPage(served)
    try {
      await open.go('/')
      await menu(open).waitFor()
      await open.page.evaluate(() => Object.assign(document.querySelector('main')!, { isSame: true }))
      await served.sql('DELETE FROM strapi_sessions')
      // The palette sends a request.
      await open.page.keyboard.press('Control+k')
      await open.page.getByRole('combobox').fill('mill')
      const dialog = open.page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.waitFor()
      await expectAccessible(open.page)
      await dialog.getByLabel('Password', { exact: true }).fill('Wrong-Horse-7')
      await dialog.getByLabel('Password', { exact: true }).press('Enter')
      await dialog.getByText('The password is wrong.').waitFor()
      await dialog.getByLabel('Password', { exact: true }).fill(adminPassword)
      await dialog.getByLabel('Password', { exact: true }).press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      // The request of before has waited.
      await open.page.getByRole('option', { name: /The Mill That Waits/ }).waitFor()
      expect(await open.page.evaluate(() => (document.querySelector('main') as HTMLElement & { isSame?: true }).isSame)).toBe(true)
      open.expectNoProblems(refused)
    } finally {
      await open.close()
    }
  })

  test('is renewed by several tabs at once, and none signs another one out', async () => {
    await served.sql('DELETE FROM strapi_sessions')
    const open = await openPage(served)
    try {
      const context = open.page.context()
      const pages = [open.page, ...(await Promise.all([1, 2, 3].map(() => context.newPage())))]
      for (let turn = 0; turn < 4; turn++) {
        await Promise.all(pages.map((page) => page.goto(`${served.origin}/admin`)))
        for (const page of pages) await page.getByRole('heading', { name: 'Hello, Ada' }).waitFor()
      }
      const [{ active }] = (await served.sql("SELECT count(*) AS active FROM strapi_sessions WHERE status = 'active'")) as [
        { active: number },
      ]
      expect(Number(active)).toBe(1)
      // Signing out in one tab is an end for the others.
      await signOut(open)
      for (const page of pages.slice(1)) await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
      open.expectNoProblems(refused)
    } finally {
      await open.close()
    }
  })

  test('of another administrator in another tab stops this one', async () => {
    // A renewal under way would bring back the cookie that is cleared below, so tokens live long here.
    const lasting = await servePage()
    await addAdministrator(lasting, 'cleo@example.com', undefined, { firstname: 'Cleo' })
    const open = await openPage(lasting)
    try {
      await open.go('/')
      const other = await open.page.context().newPage()
      await open.page.context().clearCookies()
      await other.goto(`${lasting.origin}/admin`)
      await other.getByLabel('E-mail address').fill('cleo@example.com')
      await other.getByLabel('Password', { exact: true }).fill(adminPassword)
      await other.keyboard.press('Enter')
      await other.getByRole('heading', { name: 'Hello, Cleo' }).waitFor()
      await open.page.getByRole('alertdialog', { name: 'Another account is signed in' }).waitFor()
      await press(open, 'Reload')
      await open.page.getByRole('heading', { name: 'Hello, Cleo' }).waitFor()
      open.expectNoProblems(refused)
    } finally {
      await open.close()
      await lasting.close()
    }
  })

  test('that cannot be renewed is announced two minutes before its end', async () => {
    const short = await servePage({ config: { admin: { sessions: { maxSessionLifespan: 122_000 } }, limits: { authRateLimit: 0 } } })
    const open = await openPage(short)
    try {
      await open.go('/')
      const notice = open.page.getByRole('alertdialog', { name: 'You will be signed out soon' })
      await notice.waitFor(patience)
      await press(open, 'Stay signed in')
      const dialog = open.page.getByRole('dialog', { name: 'You will be signed out soon' })
      await dialog.getByLabel('Password', { exact: true }).fill(adminPassword)
      await dialog.getByLabel('Password', { exact: true }).press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      open.expectNoProblems(refused)
    } finally {
      await open.close()
      await short.close()
    }
  })

  test('waits without a connection, which a bar says until it is back', async () => {
    const open = await openPage(served)
    try {
      await open.go('/')
      await open.page.context().setOffline(true)
      await open.page.getByText('No connection to the service.').waitFor()
      await expectAccessible(open.page, [1280])
      await open.page.context().setOffline(false)
      await until('the bar is gone', async () => (await open.page.getByText('No connection to the service.').count()) === 0)
      open.expectNoProblems(/ERR_INTERNET_DISCONNECTED|Failed to fetch/)
    } finally {
      await open.close()
    }
  })
})
