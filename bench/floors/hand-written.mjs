// The floor: what the fastest straightforward code reaches. node:http, better-sqlite3, one thread, exactly the seven bench
// requests, no model, no permissions, no query parser. Started with PORT and DATABASE_FILENAME.

import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { requests } from '../requests.mjs'
import { prepareReads } from './reads.mjs'

const database = new Database(String(process.env.DATABASE_FILENAME), { readonly: true, fileMustExist: true })
database.pragma('cache_size = -65536')
database.pragma('mmap_size = 268435456')
const reads = prepareReads(database)

const documentId = /** @type {string} */ (/articles\/(\w+)\?/.exec(pathOf('one with everything'))?.[1])

/** @type {Map<string | undefined, () => object>} */
const answers = new Map([
  [pathOf('flat list'), reads.flatList],
  [pathOf('list with relations'), reads.listWithRelations],
  [pathOf('list with components'), reads.listWithComponents],
  [pathOf('list with deep filter'), reads.listWithDeepFilter],
  [pathOf('list with everything'), reads.listWithEverything],
  [pathOf('one with everything'), () => reads.oneWithEverything(documentId)],
  [pathOf('single type'), reads.singleType],
])

createServer((request, response) => {
  const read = answers.get(request.url)
  if (!read) {
    response.writeHead(request.url === '/_health' ? 204 : 404).end()
    return
  }
  const body = Buffer.from(JSON.stringify(read()))
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length })
  response.end(body)
}).listen(Number(process.env.PORT), '127.0.0.1')

/** @param {string} name */
function pathOf(name) {
  const path = requests.find((request) => request.name === name)?.path
  if (!path) throw new Error(`There is no bench request named ${name}`)
  return path
}
