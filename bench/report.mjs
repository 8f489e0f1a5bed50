// Printed and stored output of every part: a heading with the machine, plain text tables, results as JSON.

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const resultsFolder = join(dirname(fileURLToPath(import.meta.url)), 'results')

export const machine = {
  cores: availableParallelism(),
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  node: process.version,
}

/** @param {string} title */
export function printHeading(title) {
  console.log(`\n${title} — ${machine.cores} cores (${machine.processor}), Node ${machine.node}\n`)
}

/**
 * The first column is aligned to the left, all others to the right.
 * @param {readonly string[]} heads
 * @param {readonly (readonly (string | number | null | undefined)[])[]} rows
 */
export function printTable(heads, rows) {
  const cells = [heads, ...rows].map((row) => row.map((cell) => (cell === null || cell === undefined ? '—' : String(cell))))
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (/** @type {string[]} */ row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  ')
  console.log(line(cells[0]))
  console.log(widths.map((width) => '─'.repeat(width)).join('──'))
  for (const row of cells.slice(1)) console.log(line(row))
  console.log()
}

/**
 * @param {string} part
 * @param {object} result
 */
export function saveResult(part, result) {
  const complete = { part, at: new Date().toISOString(), machine, ...result }
  mkdirSync(resultsFolder, { recursive: true })
  writeFileSync(join(resultsFolder, `${part}.json`), `${JSON.stringify(complete, null, 2)}\n`)
  return complete
}

/** @param {readonly number[]} numbers at least one */
export const median = (numbers) => /** @type {number} */ ([...numbers].sort((one, other) => one - other)[numbers.length >> 1])

/** @param {number | null | undefined} value */
export function round(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return null
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** @param {number | null} bytes */
export const megabytes = (bytes) => (bytes === null ? null : bytes / 1_048_576)
