// A browser for tests: Debian's Chromium with a fresh profile, if it is installed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { programOf } from './programs.js'

/** A browser with one page. */
export interface OpenBrowser {
  readonly page: Page
  readonly context: BrowserContext
  /** Problems that the page reported: script errors, refused requests, violations of its policy. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

const silent = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
const alone = ['--disable-component-update', '--disable-sync']

/** Opens a browser without state; requests to origins other than the opened pages fail. */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<OpenBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'octavo-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: programOf('chromium')!,
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

/** Texts whose contrast to their background is below 4.5 (WCAG 2.2, AA); runs in the browser. */
export const faintTexts = `(() => {
  const parse = (color) => { const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number); return { rgb: [r, g, b], a } }
  const light = ({ rgb }) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
  const backOf = (element) => { for (let at = element; at; at = at.parentElement) { const back = parse(getComputedStyle(at).backgroundColor); if (back.a === 1) return back } return parse('rgb(255, 255, 255)') }
  const faint = []
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '') || element.matches('input')
    if (!hasText || !element.checkVisibility()) continue
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(backOf(element))]
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (contrast < 4.5) faint.push(element.tagName + '.' + element.className + ' ' + contrast.toFixed(2))
  }
  return [...new Set(faint)]
})()`
