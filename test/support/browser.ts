// A browser for tests: Debian's Chromium with a profile of its own, where it is installed.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** Why tests that need a browser are skipped; null if they run. */
export const noBrowser: string | null = existsSync(executablePath) ? null : 'skipped, as Chromium is not installed'

/** A browser with one page. */
export interface OpenBrowser {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page reported: errors of scripts, refused requests, violations of its policy. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

const silent = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
const alone = ['--disable-component-update', '--disable-sync']

/** Opens a browser that knows nothing and talks to nobody but the pages it opens. */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<OpenBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'octavo-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [...silent, ...alone],
    ...options,
  })
  const page = context.pages()[0] ?? (await context.newPage())
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  return {
    page,
    context,
    problems,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
