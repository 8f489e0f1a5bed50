// The page at /admin in a browser: a served magazine with administrators, who open it signed in. Console errors and reports of its policy
// are collected, and an audit of accessibility is run in both colour schemes and at three widths.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { addAdministrator, signInAdmin } from '../../support/administration.js'
import { openBrowser } from '../../support/browser.js'
import { type Served, type ServeOptions, serveMagazine } from '../../support/serve.js'
import { patience } from '../../support/until.js'

/** Compares until a value is as expected; a loaded machine takes its time. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, patience)

/** The super administrator of `servePage`. */
export const ada = 'ada@example.com'

/** Serves the magazine with a super administrator. */
export async function servePage(options: ServeOptions = {}): Promise<Served> {
  const served = await serveMagazine(options)
  await addAdministrator(served, ada, undefined, { lastname: 'Lovelace' })
  return served
}

/** A browser with the page of an administrator. */
export interface OpenPage {
  readonly page: Page
  readonly origin: string
  /** Goes to an address below /admin, and waits until its screen is there. */
  go(address: string): Promise<void>
  /** Fails if the page reported a problem, apart from those that match; the list is empty afterwards. */
  expectNoProblems(...expected: readonly RegExp[]): void
  /** Signs in without the form. */
  signIn(email: string, more?: object): Promise<void>
  close(): Promise<void>
}

/** Opens a browser of an administrator; null: without sign-in. */
export async function openPage(served: Served, email: string | null = ada, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const { origin } = served
  const { page, context, problems, close } = await openBrowser({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options })
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
      console.error(`policy: ${effectiveDirective} refused ${blockedURI} in ${sourceFile}`),
    )
  })
  const signIn = async (address: string, more: object = {}) => {
    const { cookie } = await signInAdmin(served, address, more)
    const [name = '', value = ''] = cookie.split('=')
    const scope = { domain: new URL(origin).hostname, path: '/admin/api/session' } as const
    await context.addCookies([{ name, value, ...scope, httpOnly: true, sameSite: 'Strict' }])
  }
  if (email !== null) await signIn(email)
  let checked = 0
  return {
    page,
    origin,
    signIn,
    go: async (address) => {
      await page.goto(`${origin}/admin${address}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
    expectNoProblems: (...expected) => {
      const found = problems.slice(checked)
      checked = problems.length
      expect(found.filter((problem) => !expected.some((pattern) => pattern.test(problem)))).toEqual([])
    },
    close,
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Widths of a desk, a tablet, and a phone. */
export const widths = [1280, 800, 390] as const

interface Finding {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

/** Fails if the audit of WCAG 2.2 AA and of best practice finds something, in either colour scheme or at any of the widths. */
export async function expectAccessible(page: Page, atWidths: readonly number[] = widths): Promise<void> {
  const size = page.viewportSize()
  const session = await page.context().newCDPSession(page)
  const evaluate = async (expression: string): Promise<unknown> => {
    // The policy of the page concerns neither this script nor its styles.
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  const findings: string[] = []
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of atWidths) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      // What a head that stays in view covers in part depends on the position.
      await evaluate(`for (const element of document.querySelectorAll('*')) if (element.scrollTop > 0) element.scrollTop = 0`)
      await evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))`)
      await evaluate(`document.getAnimations().forEach((animation) => animation.finish())`)
      await evaluate(`globalThis.axe === undefined ? void (() => { ${axe} })() : undefined`)
      const violations = (await evaluate(
        `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'], preload: false }).then((result) => result.violations)`,
      )) as readonly Finding[]
      for (const { id, help, nodes } of violations)
        findings.push(
          `${colorScheme} ${width}: ${id} (${help}) ${nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`).join('; ')}`,
        )
    }
  await page.emulateMedia({ colorScheme: null })
  if (size !== null) await page.setViewportSize(size)
  await session.detach()
  expect(findings).toEqual([])
}

/** Fails if the page can be scrolled sideways at this width. */
export async function expectNoSidewaysScrolling(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0)
}
