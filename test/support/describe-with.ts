// Tests of what needs other programs: where one is missing they are skipped, and their titles say so.
import { describe, test } from 'vitest'
import { missingOf, type ProgramName, titleWithout } from './programs.js'

/** A `describe` of what needs programs. */
export function describeWith(programs: readonly ProgramName[], title: string, tests: () => void): void {
  const missing = missingOf(...programs)
  if (missing.length === 0) describe(title, tests)
  else describe.skip(titleWithout(title, missing), tests)
}

/** A `test` of what needs programs. */
export function testWith(programs: readonly ProgramName[], title: string, prove: () => void | Promise<void>): void {
  const missing = missingOf(...programs)
  if (missing.length === 0) test(title, prove)
  else test.skip(titleWithout(title, missing), prove)
}
