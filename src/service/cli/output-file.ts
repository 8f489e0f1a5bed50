// Where a command puts the text that it generates: on standard output, in a file, or nowhere, to compare it with a file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'
import { print } from './project.js'

/** Options of commands that generate a file. */
export interface GeneratedFileOptions {
  /** The file to write; absent: standard output. */
  readonly out?: string
  /** Compare with the file, and write nothing. */
  readonly check?: boolean
}

/**
 * Writes a generated text. `usual` is the file that `check` compares with if no other is given; `again`: the command that writes it.
 * @throws ConfigError if `check` finds the file missing or different
 */
export function writeOutput(text: string, { out, check }: GeneratedFileOptions, usual: string, again: string): void {
  if (check) compare(text, out ?? usual, again)
  else if (out === undefined) process.stdout.write(text)
  else write(text, out)
}

function write(text: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  // A file that is watched changes only if its text does.
  if (textOf(file) !== text) writeFileSync(file, text)
  print(`Wrote ${file}.`)
}

function compare(text: string, file: string, again: string): void {
  const present = textOf(file)
  if (present === null) throw new ConfigError(`There is no file ${file}. Write it: ${again} --out ${file}`)
  if (present.replaceAll('\r\n', '\n') !== text) throw new ConfigError(`${file} is out of date. Write it again: ${again} --out ${file}`)
  print(`${file} is up to date.`)
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
