// Prints the closing lines of one or several test runs, added up in plain words: `N passed, N failed`. Fails where no test ran.
import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

const text = stripVTControlCharacters(readFileSync(process.argv[2], 'utf8'))
const lines = text.split('\n').filter((entry) => /^\s*Tests\s/.test(entry))
const countIn = (line, word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
const count = (word) => lines.reduce((sum, line) => sum + countIn(line, word), 0)
console.log(`${count('passed')} passed, ${count('failed')} failed`)
if (lines.length === 0 || lines.some((line) => countIn(line, 'passed') === 0) || count('failed') > 0) process.exit(1)
