// Prints the closing line of a test run in plain words: `N passed, N failed`. Fails where no test ran.
import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

const text = stripVTControlCharacters(readFileSync(process.argv[2], 'utf8'))
const line = text.split('\n').findLast((entry) => /^\s*Tests\s/.test(entry)) ?? ''
const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
console.log(`${count('passed')} passed, ${count('failed')} failed`)
if (count('passed') === 0 || count('failed') > 0) process.exit(1)
