// A PostgreSQL server of the run's own, with the golden content: every measured server gets a database that is a copy of it. Commits are
// on disk before they are answered, as on any server that nobody tuned.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { startCluster } from './postgres-cluster.mjs'

const content = join(dirname(fileURLToPath(import.meta.url)), '..', 'test', 'golden', 'postgres', 'content.sql.gz')

/** @type {Promise<{ host: string, port: number }> | null} */
let server = null
let databases = 0

/** The environment of a service on a fresh copy of the golden content. */
export async function freshDatabase() {
  server ??= startServer()
  const { host, port } = await server
  const name = `bench_${++databases}`
  await run(port, 'postgres', `create database ${name} template golden`)
  return {
    DATABASE_CLIENT: 'postgres',
    DATABASE_HOST: host,
    DATABASE_PORT: String(port),
    DATABASE_NAME: name,
    DATABASE_USERNAME: 'octavo',
    DATABASE_PASSWORD: 'octavo',
    TZ: 'UTC',
  }
}

async function startServer() {
  const { port } = await startCluster({ isDurable: true })
  await run(port, 'postgres', 'create database golden')
  await run(port, 'golden', gunzipSync(readFileSync(content)).toString('utf8'))
  await run(port, 'golden', 'analyze')
  return { host: '127.0.0.1', port }
}

/**
 * @param {number} port
 * @param {string} database
 * @param {string} text
 */
async function run(port, database, text) {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'octavo', database })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
