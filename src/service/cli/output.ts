// Output of commands: lines, tables, JSON, progress, and generated files.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'
import { terminalLines, terminalText } from '../../foundation/runtime/terminal.js'

/** Prints one or more lines to standard output. */
export const print = (line: string): void => void process.stdout.write(`${terminalLines(line)}\n`)

export interface ListOptions {
  readonly json?: boolean
}

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** Prints a plain-text table with aligned columns. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const shown = rows.map((row) => row.map(terminalText))
  const widths = head.map((title, index) => Math.max(title.length, ...shown.map((row) => row[index]!.length)))
  for (const row of [head, ...shown])
    print(
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
}

/** Formats a time to the minute; a dash for null. */
export const formatTime = (milliseconds: number | null): string =>
  milliseconds === null ? '-' : new Date(Number(milliseconds)).toISOString().slice(0, 16).replace('T', ' ')

/** `plural` defaults to the singular with an s. */
export const pluralize = (count: number, singular: string, plural = `${singular}s`): string => `${count} ${count === 1 ? singular : plural}`

/** Prints at most `most` lines, followed by the number of the others; nothing for an empty list. */
export function printList(most: number, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  print(title)
  for (const line of lines.slice(0, most)) print(`  ${line}`)
  if (lines.length > most) print(`  … and ${lines.length - most} more`)
}

/** Milliseconds between two lines. */
const interval = 1_000

/** Returns a function that prints reports, at most one per second. */
export function createProgress<Report>(lineOf: (report: Report) => string): (report: Report) => void {
  let next = performance.now() + interval
  return (report) => {
    if (performance.now() < next) return
    next = performance.now() + interval
    process.stderr.write(`${lineOf(report)}\n`)
  }
}

export interface GeneratedFileOptions {
  /** The file to write; absent: standard output. */
  readonly out?: string
  /** Compares with the file, and writes nothing. */
  readonly check?: boolean
}

/**
 * Writes a generated text. `usual`: the default file for `check`; `again`: the command that writes it.
 * @throws ConfigError if `check` finds the file missing or different
 */
export function writeOutput(text: string, { out, check }: GeneratedFileOptions, usual: string, again: string): void {
  if (check) compare(text, out ?? usual, again)
  else if (out === undefined) process.stdout.write(text)
  else write(text, out)
}

function write(text: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  // Watchers of the file are notified only if its text changes.
  if (readText(file) !== text) writeFileSync(file, text)
  print(`Wrote ${file}.`)
}

function compare(text: string, file: string, again: string): void {
  const present = readText(file)
  if (present === null) throw new ConfigError(`There is no file ${file}. Write it: ${again} --out ${file}`)
  if (present.replaceAll('\r\n', '\n') !== text) throw new ConfigError(`${file} is out of date. Write it again: ${again} --out ${file}`)
  print(`${file} is up to date.`)
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export const formatSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
