// Two responses to one request: their content, differences and order.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import qs from 'qs'
import { compareValues, createDifferences, type Difference, isRecord, type JsonPath } from './differences.js'
import { findTarget, type KnownModel, type RequestTarget } from './model.js'
import { type ComparedRequest, decodeEscapes, getPath, getQuery } from './requests.js'
import type { ServiceAnswer } from './server.js'

export interface ServiceResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly content: BodyContent
}

export interface ResponsePair {
  readonly request: ComparedRequest
  readonly caller: string
  /** Decoded path without the query string. */
  readonly path: string
  /** Parsed query string. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Null for a path outside of the prefix. */
  readonly addressed: RequestTarget | null
  readonly strapi: ServiceResponse
  readonly octavo: ServiceResponse
}

/** Headers that change how clients handle a response. */
const comparedHeaders = ['content-type', 'location', 'content-language'] as const

export interface PairOptions {
  readonly model: KnownModel
  readonly prefix: string
  readonly maxResponseBytes: number
}

export async function createPair(
  request: ComparedRequest,
  caller: string,
  answers: { readonly strapi: ServiceAnswer; readonly octavo: ServiceAnswer },
  { model, prefix, maxResponseBytes }: PairOptions,
): Promise<ResponsePair> {
  const half = async (answer: ServiceAnswer): Promise<ServiceResponse> => ({
    status: answer.status,
    headers: answer.headers,
    content: await parseContent(answer, maxResponseBytes),
  })
  const path = decodeEscapes(getPath(request.path))
  return {
    request,
    caller,
    path,
    addressed: findTarget(model, prefix, path),
    parameters: qs.parse(getQuery(request.path), { depth: 20, arrayLimit: 100, parameterLimit: 1_000 }),
    strapi: await half(answers.strapi),
    octavo: await half(answers.octavo),
  }
}

/** Compares statuses, then headers and bodies. */
export function compareResponses({ strapi, octavo }: ResponsePair, isIgnored: (path: JsonPath) => boolean): readonly Difference[] {
  const { add, list } = createDifferences()
  if (strapi.status !== octavo.status) {
    add('status', [], strapi.status, octavo.status)
    return list()
  }
  compareHeaders(strapi.headers, octavo.headers, add)
  compareContents(strapi.content, octavo.content, add, isIgnored)
  return list()
}

type Add = ReturnType<typeof createDifferences>['add']

function compareHeaders(strapi: IncomingHttpHeaders, octavo: IncomingHttpHeaders, add: Add): void {
  for (const name of comparedHeaders) {
    const [theirs, ours] = [strapi, octavo].map((headers) => (name === 'content-type' ? getMediaType(headers) : headers[name]))
    if (theirs !== ours) add('header', [name], theirs, ours)
  }
}

function compareContents(strapi: BodyContent, octavo: BodyContent, add: Add, isIgnored: (path: JsonPath) => boolean): void {
  if (strapi.kind === 'json' && octavo.kind === 'json') compareValues(strapi.value, octavo.value, add, isIgnored)
  else {
    const [theirs, ours] = [describe(strapi), describe(octavo)]
    if (theirs !== ours) add('value', [], theirs, ours)
  }
}

function describe(content: BodyContent): string {
  if (content.kind === 'json') return JSON.stringify(content.value)
  if (content.kind === 'text') return content.text
  return content.kind === 'bytes' ? `${content.bytes} bytes, SHA-256 ${content.digest.slice(0, 16)}` : content.kind
}

/** The JSON value of a body; undefined if it is not JSON. */
const getJson = ({ content }: ServiceResponse): unknown => (content.kind === 'json' ? content.value : undefined)

/** The message of an API error; empty for other bodies. */
export function getErrorMessage(half: ServiceResponse): string {
  const body = getJson(half)
  const error = isRecord(body) ? body.error : null
  return isRecord(error) && typeof error.message === 'string' ? error.message : ''
}

/** The documents of a body: in `data`, as a list or a single one, or a list of users or files. */
export function getDocuments(half: ServiceResponse): readonly Readonly<Record<string, unknown>>[] {
  const body = getJson(half)
  const data = isRecord(body) ? body.data : body
  return Array.isArray(data) ? data.filter(isRecord) : isRecord(data) ? [data] : []
}

/** The sort keys of a request. */
export function sortKeys({ parameters }: ResponsePair): readonly string[] {
  const names = (value: unknown, path: readonly string[]): readonly string[] => {
    if (typeof value === 'string')
      return path.length > 0 && /^(?:asc|desc)$/i.test(value)
        ? [path.join('.')]
        : value.split(',').map((part) => [...path, part.split(':')[0]!.trim()].join('.'))
    if (Array.isArray(value)) return value.flatMap((each) => names(each, path))
    return isRecord(value) ? Object.entries(value).flatMap(([key, below]) => names(below, [...path, key])) : []
  }
  return names(parameters.sort, []).filter((name) => name !== '')
}

type BodyContent =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: number; readonly digest: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too large' }

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

/** Reads the body of a response, decompressed to at most `most` bytes. */
async function parseContent({ body, headers }: Pick<ServiceAnswer, 'body' | 'headers'>, most: number): Promise<BodyContent> {
  if (body === null) return { kind: 'too large' }
  if (body.length === 0) return { kind: 'none' }
  const decoded = await decode(body, headers, most)
  return decoded === null ? { kind: 'too large' } : parseBody(decoded, getMediaType(headers))
}

async function decode(body: Buffer, headers: IncomingHttpHeaders, most: number): Promise<Buffer | null> {
  const coding = headers['content-encoding'] ?? 'identity'
  if (!Object.hasOwn(decoders, coding)) return body
  try {
    return await decoders[coding as keyof typeof decoders](body, { maxOutputLength: most })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : body
  }
}

function parseBody(body: Buffer, mediaType: string): BodyContent {
  if (/[/+]json$/.test(mediaType)) {
    try {
      return { kind: 'json', value: JSON.parse(body.toString('utf8')) }
    } catch {
      return { kind: 'text', text: body.toString('utf8') }
    }
  }
  if (mediaType.startsWith('text/')) return { kind: 'text', text: body.toString('utf8') }
  return { kind: 'bytes', bytes: body.length, digest: createHash('sha256').update(body).digest('hex') }
}

/** The media type without parameters, in lower case; empty without one. */
const getMediaType = (headers: IncomingHttpHeaders): string => (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()

type ListedDocument = Readonly<Record<string, unknown>>

/**
 * True if a list differs only in an undefined order. Strapi sorts neither without a sort parameter nor between equal sort keys, so
 * documents with equal keys at the end of a page may be on different pages.
 */
export function isFreeOrder({ kind, path }: Difference, pair: ResponsePair): boolean {
  const isWhole = path.length === 0 || (path.length === 1 && path[0] === 'data')
  const isDocument = path.length === 2 && path[0] === 'data' && typeof path[1] === 'number'
  if (sortKeys(pair).length > 0) return (isWhole || isDocument) && ['order', 'missing', 'added'].includes(kind) && hasEqualKeys(pair)
  return kind === 'order' && isWhole && findStrapiOrder(pair) === null
}

/** True if both lists have the same sequence of sort keys, so that only documents with equal keys differ in position. */
function hasEqualKeys(pair: ResponsePair): boolean {
  const keys = sortKeys(pair)
  const valuesOf = (document: ListedDocument) => keys.map((key) => getValue(document, key))
  const [theirs, ours] = [getDocuments(pair.strapi).map(valuesOf), getDocuments(pair.octavo).map(valuesOf)]
  return JSON.stringify(theirs) === JSON.stringify(ours) && theirs.every((values) => !values.includes(undefined))
}

const getValue = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((found, key) => (typeof found === 'object' && found !== null ? (found as ListedDocument)[key] : undefined), value)

/** Shorter lists may be sorted by an attribute by chance. */
const minSortedDocuments = 4

/** The order of Strapi's list as a sort parameter, if the request has none and Octavo's list has another order; otherwise null. */
export function findStrapiOrder(pair: ResponsePair): string | null {
  const [theirs, ours] = [getDocuments(pair.strapi), getDocuments(pair.octavo)]
  if (sortKeys(pair).length > 0 || theirs.length < minSortedDocuments) return null
  for (const key of Object.keys(theirs[0]!))
    for (const direction of ['asc', 'desc'] as const)
      if (isSortedBy(theirs, key, direction) && !isSortedBy(ours, key, direction)) return `${key}:${direction}`
  return null
}

function isSortedBy(documents: readonly ListedDocument[], key: string, direction: 'asc' | 'desc'): boolean {
  const all = documents.map((document) => document[key])
  const values: readonly unknown[] = all.filter((value) => value !== null)
  // Databases sort null first or last, but always together.
  const isTogether =
    all.slice(0, values.length).every((value) => value !== null) || all.slice(-values.length).every((value) => value !== null)
  const isComparable = ['string', 'number'].some((type) => values.every((value) => typeof value === type))
  if (values.length < minSortedDocuments || !isTogether || !isComparable) return false
  const sorted = values as readonly string[]
  const isSorted = sorted.every(
    (value, index) => index === 0 || (direction === 'asc' ? sorted[index - 1]! <= value : sorted[index - 1]! >= value),
  )
  // A constant is always sorted.
  return isSorted && sorted[0] !== sorted.at(-1)
}
