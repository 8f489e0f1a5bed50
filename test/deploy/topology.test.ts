// docs/spec/running.md: the topology of deploy/compose.yaml, started as processes.
import { Agent, request } from 'node:http'
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { contentType } from '../spec/library.js'
import { project, removeProjects } from '../start/command.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { startTopology, type Topology } from './topology.js'

describeWith(['HAProxy', 'PostgreSQL'], 'the topology', () => {
  let topology: Topology
  let key: string
  beforeAll(async () => {
    topology = await startTopology(project(contentType('article', { title: { type: 'string' } })))
    const printed = await topology.octavo(['tokens', 'create', '--name', 'Site', '--type', 'full-access'])
    key = /\b[0-9a-f]{64,}\b/.exec(printed)![0]
  })
  afterAll(async () => {
    await topology?.close()
    removeProjects()
  })

  const create = (origin: string, title: string) =>
    fetch(`${origin}/api/articles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { title } }),
    })

  const read = async (origin: string, documentId: string) => {
    const response = await fetch(`${origin}/api/articles/${documentId}`, { headers: { authorization: `Bearer ${key}` } })
    return [response.status, ((await response.json()) as { data?: { title: string } }).data?.title]
  }

  rule('running.4', 'the next read through every instance has the writes of each', async () => {
    const [first, second] = topology.instances
    for (let round = 0; round < 10; round++) {
      const [from, to] = round % 2 === 0 ? [first!, second!] : [second!, first!]
      const response = await create(from.origin, `Article ${round}`)
      expect(response.status, topology.output()).toBe(201)
      const { documentId } = ((await response.json()) as { data: { documentId: string } }).data
      expect(await read(to.origin, documentId)).toEqual([200, `Article ${round}`])
      expect(await read(topology.origin, documentId)).toEqual([200, `Article ${round}`])
    }
  })

  rule('running.4', 'the replica streams what the primary commits', async () => {
    expect((await create(topology.origin, 'Replicated')).status).toBe(201)
    const client = new pg.Client(topology.replica)
    await client.connect()
    try {
      const count = async () => (await client.query("select from articles where title = 'Replicated'")).rowCount
      await until(topology.output, async () => (await count())! > 0)
      expect((await client.query('select pg_is_in_recovery() as replica')).rows).toEqual([{ replica: true }])
    } finally {
      await client.end()
    }
  })

  rule('running.4', 'a file that is uploaded through the balancer is in the store, and is served at its signed address', async () => {
    const form = new FormData()
    form.append('files', new Blob(['a text of the office'], { type: 'text/plain' }), 'office.txt')
    const headers = { authorization: `Bearer ${key}` }
    const uploaded = await fetch(`${topology.origin}/api/upload`, { method: 'POST', headers, body: form })
    expect(uploaded.status, topology.output()).toBe(201)
    const [{ id }] = (await uploaded.json()) as [{ id: number }]
    for (const { origin } of topology.instances) {
      const { url } = (await (await fetch(`${origin}/api/upload/files/${id}`, { headers })).json()) as { url: string }
      expect(url).toContain(':3900/media/')
      expect(url).toContain('X-Amz-Signature')
      expect(await (await fetch(url)).text()).toBe('a text of the office')
    }
  })

  rule('running.5', 'both instances are restarted, one after the other, and no request through the balancer fails', async () => {
    const failures: string[] = []
    let [isOver, asked] = [false, 0]
    const agent = new Agent({ keepAlive: true })
    const clients = [0, 1, 2, 3].map(async (client) => {
      while (!isOver) {
        const status = await sendRequest(topology.origin, client % 2 === 0 ? null : `During restarts ${asked}`, { agent, key })
        asked++
        if (status !== 200 && status !== 201) failures.push(`${new Date().toISOString()} ${status}`)
      }
    })
    for (const instance of topology.instances) {
      expect(await instance.stop()).toBe(0)
      await instance.start()
    }
    isOver = true
    await Promise.all(clients)
    agent.destroy()
    expect(failures, topology.output()).toEqual([])
    expect(asked).toBeGreaterThan(100)
  })
})

/** Reads the articles, or writes one; resolves to the status, or to what went wrong. */
function sendRequest(
  origin: string,
  title: string | null,
  { agent, key }: { readonly agent: Agent; readonly key: string },
): Promise<number | string> {
  const body = title === null ? '' : JSON.stringify({ data: { title } })
  return new Promise((resolve) => {
    const sending = request(`${origin}/api/articles`, {
      agent,
      method: title === null ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(title === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    })
    sending.on('error', (error) => resolve(error.message))
    sending.on('response', (response) => {
      response.resume()
      response.on('close', () => resolve(response.complete ? response.statusCode! : 'cut off'))
    })
    sending.end(body)
  })
}
