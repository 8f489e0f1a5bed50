// The databases that change hands: a copy of the golden one on SQLite, an empty one on a PostgreSQL or MariaDB server.

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { startMariadb } from '../../bench/mariadb-cluster.mjs'
import { startCluster } from '../../bench/postgres-cluster.mjs'
import { copyDatabase } from '../../bench/servers.mjs'

/**
 * @typedef {object} HandedDatabase
 * @property {Record<string, string>} environment what names it to Octavo and to Strapi
 * @property {() => Map<string, string>} schema the text of every table and index by its name
 * @property {() => Promise<void>} drop
 */

/**
 * @param {string} folder
 * @returns {HandedDatabase}
 */
export function copyOfGolden(folder) {
  const file = copyDatabase(folder)
  return {
    environment: { DATABASE_FILENAME: file },
    schema: () => {
      const database = new Database(file, { readonly: true })
      const rows = /** @type {{ name: string, sql: string | null }[]} */ (database.prepare('select name, sql from sqlite_master').all())
      database.close()
      return new Map(rows.map(({ name, sql }) => [name, sql ?? '']))
    },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Starts a server of a kind. Resolves to the URL of its root database. */
export const startServer = async (/** @type {'postgres' | 'mysql'} */ client) =>
  client === 'postgres' ? startCluster({ isDurable: false }) : startMariadb({ isDurable: false })

let created = 0

/**
 * An empty database on a server.
 * @param {string} server URL of the root database
 * @returns {Promise<HandedDatabase>}
 */
export async function emptyDatabase(server) {
  const name = `octavo_handover_${process.pid}_${++created}`
  const url = new URL(server)
  const isPostgres = url.protocol !== 'mysql:'
  if (isPostgres) await run(server, `create database ${name} template template0`)
  else {
    // Without a password Octavo and Strapi would look for one in the project.
    ;[url.username, url.password] = [name, name]
    await runOnMysql(server, `create database ${name}`)
    await runOnMysql(server, `create user ${name} identified by '${name}'`)
    await runOnMysql(server, `grant all on ${name}.* to ${name}`)
  }
  url.pathname = name
  return {
    environment: {
      DATABASE_CLIENT: isPostgres ? 'postgres' : 'mysql',
      DATABASE_HOST: url.hostname,
      DATABASE_PORT: url.port || (isPostgres ? '5432' : '3306'),
      DATABASE_NAME: name,
      DATABASE_USERNAME: decodeURIComponent(url.username),
      DATABASE_PASSWORD: decodeURIComponent(url.password),
    },
    schema: () => (isPostgres ? sectionsOf(postgresDump(url)) : tablesOf(mysqlDump(url))),
    drop: () =>
      isPostgres ? run(server, `drop database if exists ${name} with (force)`) : runOnMysql(server, `drop database if exists ${name}`),
  }
}

const postgresDump = (/** @type {URL} */ url) => execFileSync('pg_dump', ['--schema-only', '--no-owner', url.href], { encoding: 'utf8' })

function mysqlDump(/** @type {URL} */ { hostname, port, username, password, pathname }) {
  const options = ['--no-data', '--skip-comments', `--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`]
  return execFileSync('mariadb-dump', [...options, `--password=${password}`, pathname.slice(1)], { encoding: 'utf8' })
}

/**
 * @param {string} url
 * @param {string} statement
 */
async function run(url, statement) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/**
 * @param {string} url
 * @param {string} statement
 */
async function runOnMysql(url, statement) {
  const connection = await createConnection(url)
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}

/**
 * The tables of a dump with their columns and keys, without Octavo's own.
 * @param {string} dump
 * @returns {Map<string, string>}
 */
function tablesOf(dump) {
  const tables = [...dump.matchAll(/^CREATE TABLE `(\w+)` \(\n(.*?)\n\) (.*?);$/gms)]
  return new Map(
    tables.flatMap(([, name = '', body = '', options = '']) => {
      if (name.startsWith('octavo_')) return []
      const lines = body.split(',\n').map((line) => line.trim())
      const isOwn = (/** @type {string} */ line) => /^KEY `octavo_/.test(line)
      const kept = lines.filter((line) => !isOwn(line))
      const columns = kept.filter((line) => line.startsWith('`'))
      const keys = kept.filter((line) => !line.startsWith('`')).sort()
      return [[name, [...columns, ...keys, options.replace(/ AUTO_INCREMENT=\d+/, '')].join('\n')]]
    }),
  )
}

/**
 * The objects of a dump, but for Octavo's own.
 * @param {string} dump
 * @returns {Map<string, string>}
 */
function sectionsOf(dump) {
  const [objects = ''] = dump.split(/^--\n-- PostgreSQL database dump complete/m)
  const sections = objects.split(/^--\n-- Name: /m).slice(1)
  const named = sections.map((section) => /** @type {const} */ ([section.slice(0, section.indexOf('; Schema:')), section]))
  return new Map(named.filter(([name]) => !name.includes('octavo_')))
}
