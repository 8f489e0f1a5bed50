// Parses `fileInfo`, the metadata that a client sends with files: one object, or one per file.

import { type ApiError, printed, validationError } from '../../foundation/errors/errors.js'
import type { Issue } from '../../foundation/errors/issues.js'
import { checkDisplayName } from './file-names.js'

/** Metadata of a file; `undefined` leaves a value unchanged, `null` clears it. */
export interface FileInfo {
  readonly name?: string | undefined
  readonly alternativeText?: string | null | undefined
  readonly caption?: string | null | undefined
  readonly focalPoint?: Readonly<Record<string, unknown>> | null | undefined
}

interface FileInfoError extends Issue {
  readonly path: readonly string[]
  readonly message: string
  readonly value?: unknown
}

/**
 * Parses the metadata of `count` files from a form field or a JSON body.
 * @throws ApiError 400 unless it is an object, or one object per file (uploads.1); for unknown keys if they are refused
 */
export function readFileInfos(sent: unknown, count: number, unknown: 'ignored' | 'refused' = 'ignored'): readonly FileInfo[] {
  if (sent === undefined) return Array.from({ length: count }, () => ({}))
  const parsed = Array.isArray(sent) ? sent.map(parsedText) : parsedText(sent)
  const list = Array.isArray(parsed) ? (parsed.length === 1 && Array.isArray(parsed[0]) ? (parsed[0] as unknown[]) : parsed) : null
  if (count > 1) {
    if (list === null || (list.length === 1 && !Array.isArray(sent))) throw wrongShape('array', parsed)
    return Array.from({ length: count }, (_, index) => readFileInfo(list[index] ?? {}, unknown))
  }
  if (list !== null && list.length !== 1) throw wrongShape('object', parsed)
  return [readFileInfo(list === null ? parsed : list[0], unknown)]
}

function parsedText(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent
  try {
    return JSON.parse(sent)
  } catch {
    return sent
  }
}

function readFileInfo(value: unknown, unknown: 'ignored' | 'refused'): FileInfo {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongShape('object', value)
  const { name, alternativeText, caption, focalPoint } = value as Record<string, unknown>
  const issues: FileInfoError[] = unknown === 'refused' ? unknownKeys(value) : []
  const info: FileInfo = {
    name: text('name', name, issues) ?? undefined,
    alternativeText: text('alternativeText', alternativeText, issues),
    caption: text('caption', caption, issues),
    focalPoint: point(focalPoint, issues),
  }
  if (issues.length > 0) throw toError(issues)
  return info.name === undefined ? info : { ...info, name: checkDisplayName(info.name) }
}

/** The codes are for the administration; the details have Strapi's members. */
function toError(issues: readonly FileInfoError[]): ApiError {
  const errors = issues.map(({ path, message, code: _code, params: _params, ...value }) => ({
    path,
    message,
    name: 'ValidationError',
    ...value,
  }))
  const message = issues.length === 1 ? issues[0]!.message : `${issues.length} errors occurred`
  return validationError(message, { errors }).because(issues.map(({ value: _, ...mistake }) => mistake))
}

function unknownKeys(value: object): FileInfoError[] {
  const { focalPoint } = value as { readonly focalPoint?: unknown }
  const names = ['name', 'alternativeText', 'caption', 'focalPoint']
  const inPoint = typeof focalPoint === 'object' && focalPoint !== null ? Object.keys(focalPoint) : []
  const paths = [
    ...Object.keys(value).flatMap((key) => (names.includes(key) ? [] : [[key]])),
    ...inPoint.flatMap((key) => (key === 'x' || key === 'y' ? [] : [['focalPoint', key]])),
  ]
  return paths.slice(0, mostUnknown).map((keys) => {
    const path = ['fileInfo', ...keys.map((key) => key.slice(0, 100))]
    return { path, message: `${path.join('.')} is unknown`, code: 'unknown', params: { name: path.at(-1)! } }
  })
}

/** Maximum number of unknown keys listed in an error. */
const mostUnknown = 100

function text(key: string, value: unknown, issues: FileInfoError[]): string | null | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const message = `fileInfo.${key} must be a \`string\` type, but the final value was: \`${printed(value)}\`.`
  issues.push({ path: ['fileInfo', key], message, code: 'type', params: { expected: 'string' }, value })
  return undefined
}

/** Parses a focal point, in percent of width and height; null unless it is an object. */
function point(value: unknown, issues: FileInfoError[]): FileInfo['focalPoint'] {
  if (value === undefined || value === null) return value
  if (typeof value !== 'object' || Array.isArray(value)) return null
  const read = value as Readonly<Record<string, unknown>>
  const coordinates = (['x', 'y'] as const).map((key) => [key, coordinate(key, read[key], issues)] as const)
  return { ...read, ...Object.fromEntries(coordinates) }
}

function coordinate(key: 'x' | 'y', value: unknown, issues: FileInfoError[]): number {
  const path = ['fileInfo', 'focalPoint', key]
  const issue = (message: string, more: Issue & { readonly value?: unknown }) =>
    issues.push({ path, message: `${path.join('.')} ${message}`, ...more })
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (value === undefined) issue('is a required field', { code: 'required' })
  else if (typeof number !== 'number' || Number.isNaN(number))
    issue(`must be a \`number\` type, but the final value was: \`NaN\` (cast from the value \`${printed(value)}\`).`, {
      code: 'type',
      params: { expected: 'number' },
      value: null,
    })
  else if (number < 0) issue('must be greater than or equal to 0', { code: 'min', params: { min: 0, actual: number }, value: number })
  else if (number > 100) issue('must be less than or equal to 100', { code: 'max', params: { max: 100, actual: number }, value: number })
  return number as number
}

const wrongShape = (shape: 'object' | 'array', value: unknown): ApiError => {
  const cast = value === null ? '' : ` (cast from the value \`${printed(value)}\`)`
  const message = `fileInfo must be a \`${shape}\` type, but the final value was: \`null\`${cast}.`
  return toError([{ path: ['fileInfo'], message, code: 'type', params: { expected: shape }, value: null }])
}
