// Takes the pictures of docs/images from the example project, with Chromium: `node scripts/pictures.mjs` after a build.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import sharp from 'sharp'

const port = '1399'
// The demo administrator needs a name of this machine.
const origin = `http://localhost:${port}`
const folder = mkdtempSync(join(tmpdir(), 'octavo-pictures-'))
cpSync('examples/magazine', folder, { recursive: true, filter: (path) => !path.includes('.tmp') })
const service = spawn(process.execPath, ['dist/main.js', 'dev', folder], {
  stdio: 'ignore',
  env: { ...process.env, HOST: 'localhost', PORT: port },
})
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
try {
  const isServing = async () => (await fetch(`${origin}/_health`).catch(() => null))?.ok
  while (!(await isServing())) await setTimeout(200)
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

  await page.goto(`${origin}/admin`)
  await page.getByRole('button', { name: 'demo' }).click()
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
} finally {
  await browser.close()
  service.kill()
  rmSync(folder, { recursive: true, force: true })
}
