// Readable log lines: time, level, message and fields of a JSON line, in colour on a terminal. Other lines are unchanged.
import { styleText } from 'node:util'
import { terminalLines } from '../../../foundation/runtime/terminal.js'

type Style = Parameters<typeof styleText>[0]

/** Levels of pino by number, with colours. */
const levels: ReadonlyMap<number, readonly [string, Style]> = new Map([
  [10, ['trace', 'gray']],
  [20, ['debug', 'gray']],
  [30, ['info', 'green']],
  [40, ['warn', 'yellow']],
  [50, ['error', 'red']],
  [60, ['fatal', 'red']],
] as const)

interface LogEntry {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly [field: string]: unknown
}

/** Messages that each start of a service repeats. */
const oncePerRun = /^There is no administrator yet/
const superfluous = /^Server listening at /
/** Maximum length of fields on the line of their message. */
const shortFields = 160

/** Creates a function that formats a line of the log, or returns null to omit it. `colours`: uses terminal escape sequences. */
export function createReadableLog(colours: boolean): (line: string) => string | null {
  const printed = new Set<string>()
  const paint = (style: Style, text: string): string => (colours ? styleText(style, text) : text)
  return (line) => {
    const entry = parseEntry(line)
    if (entry === null) return line
    const { level, time, msg = '', ...fields } = entry
    if (superfluous.test(msg) || (oncePerRun.test(msg) && printed.has(msg))) return null
    if (oncePerRun.test(msg)) printed.add(msg)
    const [name, style] = levels.get(level) ?? [String(level), 'white']
    const begin = `${paint('gray', timeOfDay(time))} ${paint(style, name.padEnd(5))}`
    if (msg === 'request' && typeof fields.status === 'number') return `${begin} ${requestLine(fields, paint)}`
    if (typeof fields.hint === 'string')
      return `${begin} ${paint('gray', `${String(fields.method)} ${String(fields.path)} ${String(fields.status)}`)} ${msg}`
    const texts = Object.entries(fields).map(([field, value]) => [field, shown(value)] as const)
    const isShort = texts.reduce((sum, [field, text]) => sum + field.length + text.length, 0) <= shortFields
    if (isShort && texts.every(([, text]) => !text.includes('\n')))
      return [`${begin} ${msg}`, ...texts.map(([field, text]) => paint('gray', `${field}=${text}`))].join(' ')
    return [`${begin} ${msg}`, ...texts.map(([field, text]) => `      ${paint('gray', `${field}:`)} ${text}`)].join('\n')
  }
}

function parseEntry(line: string): LogEntry | null {
  if (!line.startsWith('{"level":')) return null
  try {
    return JSON.parse(line, (_key, value) => (typeof value === 'string' ? terminalLines(value) : value)) as LogEntry
  } catch {
    return null
  }
}

const timeOfDay = (time: number): string => new Date(time).toTimeString().slice(0, 8)

/** `GET /api/articles 200 3.1 ms`, with the caller and the error, if any. */
function requestLine(fields: Readonly<Record<string, unknown>>, paint: (style: Style, text: string) => string): string {
  const { method, path, status, milliseconds, caller, error } = fields
  const style = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green'
  const { name, message } = (error ?? {}) as { readonly name?: string; readonly message?: string }
  return [
    `${String(method)} ${String(path ?? '-')} ${paint(style, String(status))} ${paint('gray', `${String(milliseconds)} ms`)}`,
    ...(typeof caller === 'string' ? [paint('gray', caller)] : []),
    ...(message === undefined ? [] : [`${name}: ${message}`]),
  ].join(' ')
}

/** A field as text. Stacks of errors follow on separate lines. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'stack' in value) return String(value.stack).replaceAll('\n', '\n      ')
  return JSON.stringify(value)
}
