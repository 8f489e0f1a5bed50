// A real browser, where one is installed. It talks to nobody but the page that is opened.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** Why there is no browser; null: there is one. */
export const noBrowser = existsSync(executablePath) ? null : `${executablePath} is not installed`

/** A page, and what went wrong on it. */
export interface Opened {
  readonly page: Page
  /** Errors in the console, refusals of the Content-Security-Policy included, and requests to other origins. */
  readonly troubles: readonly string[]
  close(): Promise<void>
}

/** Opens an empty page that may only talk to `origin`. */
export async function openPage(origin: string): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-browser-'))
  const quiet = [
    'no-sandbox',
    'disable-gpu',
    'disable-quic',
    'no-first-run',
    'disable-background-networking',
    'disable-component-update',
    'disable-sync',
  ]
  const context: BrowserContext = await chromium.launchPersistentContext(folder, {
    ...{ executablePath, headless: true, viewport: { width: 1280, height: 900 } },
    args: quiet.map((name) => `--${name}`),
  })
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => {
    // What the service refuses is told there as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) troubles.push(`request to ${request.url()}`)
  })
  page.setDefaultTimeout(60_000)
  return {
    page,
    troubles,
    close: async () => {
      await context.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
