// Takes the pictures of docs/images from the example project, with Chromium: `node scripts/pictures.mjs` after a build.
import { execFileSync, spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

const port = '1399'
const origin = `http://127.0.0.1:${port}`
const service = spawn(process.execPath, ['dist/main.js', 'dev', 'examples/magazine'], {
  stdio: 'ignore',
  env: { ...process.env, HOST: '127.0.0.1', PORT: port },
})
try {
  const isServing = async () => (await fetch(`${origin}/_health`).catch(() => null))?.ok
  while (!(await isServing())) await setTimeout(200)
  // The first request of a kind takes longer.
  await fetch(`${origin}/api/articles?fields[0]=title&populate[0]=cover&sort=title&pagination[pageSize]=5`)
  const options = ['--headless', '--no-sandbox', '--hide-scrollbars', '--virtual-time-budget=10000', '--window-size=1200,820']
  execFileSync('chromium', [...options, '--screenshot=docs/images/start-page.png', `${origin}/`], { stdio: 'ignore' })
} finally {
  service.kill()
}
