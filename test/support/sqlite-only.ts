// Tests of what only SQLite has. On a server they are skipped, and their names say why.
import { describe, test } from 'vitest'
import { isOnServer } from './databases.js'

/** A `describe` of what only SQLite has; `reason`: what a server has not, or where it is tested there. */
export function describeSqlite(name: string, reason: string, tests: () => void): void {
  if (isOnServer) describe.skip(`${name} (SQLite only: ${reason})`, tests)
  else describe(name, tests)
}

/** A `test` of what only SQLite has. */
export function testSqlite(name: string, reason: string, prove: () => void | Promise<void>, patience?: number): void {
  if (isOnServer) test.skip(`${name} (SQLite only: ${reason})`, prove)
  else test(name, prove, patience)
}
