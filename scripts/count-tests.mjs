// Prints the failures of test runs again, at the end of a long log, and the sum of their closing lines: `N passed, N failed`. Fails where no
// test ran or one failed.
import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

const lines = stripVTControlCharacters(readFileSync(process.argv[2], 'utf8')).split('\n')
/** A failure ends at the rule below it; its diff may be longer than anyone wants to read here. */
const linesOfFailure = 25
lines.forEach((line, at) => {
  if (!/^ FAIL /.test(line)) return
  const after = lines.slice(at, at + linesOfFailure)
  const end = after.findIndex((entry) => entry.startsWith('⎯'))
  console.log(after.slice(0, end === -1 ? undefined : end).join('\n'))
})

const counts = lines.filter((line) => /^\s*Tests\s/.test(line))
const countIn = (line, word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
const count = (word) => counts.reduce((sum, line) => sum + countIn(line, word), 0)
console.log(`${count('passed')} passed, ${count('failed')} failed`)
if (counts.length === 0 || counts.some((line) => countIn(line, 'passed') === 0) || count('failed') > 0) process.exit(1)
