// Uploads under load: 200 files of 10 MB at once, and a light read during picture work. Prints memory and times.
//   node bench/uploads.mjs [PARALLEL] [MEGABYTES]
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import sharp from 'sharp'

const parallel = Number(process.argv[2] ?? 200)
const megabytes = Number(process.argv[3] ?? 10)
const root = join(fileURLToPath(new URL('.', import.meta.url)), '..')
const folder = mkdtempSync(join(tmpdir(), 'octavo-uploads-'))
cpSync(join(root, 'test', 'golden', 'project'), folder, { recursive: true })
mkdirSync(join(folder, '.tmp'))
writeFileSync(join(folder, '.tmp', 'data.db'), gunzipSync(readFileSync(join(folder, 'content.db.gz'))))
const token = JSON.parse(readFileSync(join(folder, 'tokens.json'), 'utf8')).full

const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})
const service = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'start', folder], {
  env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), UPLOADS_DIR: 'uploads', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'ignore', 'inherit'],
})
const origin = `http://127.0.0.1:${port}`
while (
  !(await fetch(`${origin}/_health`).then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await new Promise((resolve) => setTimeout(resolve, 50))

/** Resident memory of the service and its picture process now, in MB, without the pages of files that the kernel counts as its own. */
function memory() {
  const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return [service.pid, ...children].map(memoryOf).reduce((sum, one) => sum + one, 0)
}

function memoryOf(pid) {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    // A process that has just ended has none.
    return 0
  }
}

/** Sends one file as a form, a piece at a time; the pieces are shared, so this process stays small too. */
function upload(size, content, name) {
  const head = `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`
  const tail = '\r\n--b--\r\n'
  return new Promise((resolve, reject) => {
    const sending = request(`${origin}/api/upload`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': head.length + size + tail.length,
      },
    })
    sending.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
    sending.on('error', reject)
    sending.write(head)
    let left = size
    const more = () => {
      while (left > 0) {
        const piece = content.subarray(0, Math.min(left, content.length))
        left -= piece.length
        if (!sending.write(piece)) return sending.once('drain', more)
      }
      sending.end(tail)
    }
    more()
  })
}

/** Times of a light read, one every 10 ms from a separate thread, while `work` runs. */
async function besides(work) {
  const reader = new Worker(new URL('light-reads.mjs', import.meta.url), {
    workerData: { address: `${origin}/api/articles?pagination[pageSize]=1&fields[0]=title`, token },
  })
  await new Promise((resolve) => reader.once('message', resolve))
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, memory())
  }, 20)
  const started = performance.now()
  const statuses = await work()
  const took = performance.now() - started
  clearInterval(watching)
  reader.postMessage('enough')
  const times = await new Promise((resolve) => reader.once('message', resolve))
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1)
  const counted = [...new Set(statuses)].map((status) => `${statuses.filter((one) => one === status).length} × ${status} `)
  console.log(
    `${counted.join('')}in ${(took / 1000).toFixed(1)} s; memory ${most.toFixed(0)} MB at most; light read p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${times.length} reads)`,
  )
}

try {
  console.log(`idle: ${memory().toFixed(0)} MB`)
  await besides(() => new Promise((resolve) => setTimeout(() => resolve([]), 3000)))
  console.log(`${parallel} files of ${megabytes} MB at once:`)
  const zeros = Buffer.alloc(65_536, 'x')
  await besides(() => Promise.all(Array.from({ length: parallel }, (_, index) => upload(megabytes * 1_000_000, zeros, `f${index}.bin`))))
  console.log('40 photographs of 12 megapixels, 8 at once:')
  const photograph = await sharp({
    create: { width: 4000, height: 3000, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 20 } },
  })
    .jpeg({ quality: 85 })
    .toBuffer()
  await besides(async () => {
    const statuses = []
    let next = 0
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (next++ < 40) statuses.push(await upload(photograph.length, photograph, 'photograph.jpg'))
      }),
    )
    return statuses
  })
} finally {
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}
