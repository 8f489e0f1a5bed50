// The schema changes while the service reads, as when another process creates its indexes: SQLite prepares statements again.
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'

let served: Served
afterEach(() => served.close())

const changes = `
  const { parentPort, workerData } = require('node:worker_threads')
  const database = new (require('better-sqlite3'))(workerData)
  for (let change = 0; change < 4000; change++) {
    database.exec('create index "passing_' + change + '" on "tags" ("name", "id")')
    database.exec('drop index "passing_' + change + '"')
  }
  database.close()
  parentPort.postMessage('done')`

test('one change after the other: every read is answered', async () => {
  served = await serveGolden()
  const token = goldenTokens().full!
  const worker = new Worker(changes, { eval: true, workerData: served.database })
  let isChanging = true
  const done = new Promise<void>((resolve, reject) => worker.on('error', reject).on('exit', () => resolve())).finally(() => {
    isChanging = false
  })
  const { data } = JSON.parse((await served.request('/api/tags?pagination[pageSize]=20', { token })).text)
  const answers: string[] = []
  for (let round = 0; isChanging; round++) {
    const paths = data.map(({ documentId }: { documentId: string }) => `/api/tags/${documentId}?fields=name&filters[id][$ne]=-${round % 3}`)
    const several = await Promise.all(paths.map((path: string) => served.request(path, { token })))
    answers.push(...several.filter(({ status }) => status !== 200).map(({ text }) => text))
  }
  await done
  expect(answers).toEqual([])
})
