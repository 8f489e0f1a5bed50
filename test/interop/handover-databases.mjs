// The databases that change hands: a copy of the golden one on SQLite, an empty one on a PostgreSQL server.

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import pg from 'pg'
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

let created = 0

/**
 * An empty database on a server.
 * @param {string} server URL of a database from which others can be created
 * @returns {Promise<HandedDatabase>}
 */
export async function emptyDatabase(server) {
  const name = `octavo_handover_${process.pid}_${++created}`
  await run(server, `create database ${name} template template0`)
  const url = new URL(server)
  url.pathname = name
  return {
    environment: {
      DATABASE_CLIENT: 'postgres',
      DATABASE_HOST: url.hostname,
      DATABASE_PORT: url.port || '5432',
      DATABASE_NAME: name,
      DATABASE_USERNAME: decodeURIComponent(url.username),
      DATABASE_PASSWORD: decodeURIComponent(url.password),
    },
    schema: () => sectionsOf(execFileSync('pg_dump', ['--schema-only', '--no-owner', url.href], { encoding: 'utf8' })),
    drop: () => run(server, `drop database if exists ${name} with (force)`),
  }
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
