// Two responses to one request, with what is known about the request: from here on, nothing is asked any more.
import type { IncomingHttpHeaders } from 'node:http'
import qs from 'qs'
import { type BodyContent, contentOf, mediaTypeOf } from './content.js'
import { compareValues, type Difference, isRecord, type JsonPath, openDifferences } from './difference.js'
import { type Addressed, addressedBy, type KnownModel } from './known-model.js'
import { type ComparedRequest, decoded, pathOf, queryOf } from './request.js'
import type { ServiceAnswer } from './server.js'

/** One of the two responses. */
export interface Half {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly content: BodyContent
}

/** The two responses to a request. */
export interface ResponsePair {
  readonly request: ComparedRequest
  readonly caller: string
  /** The path without the query string, decoded. */
  readonly path: string
  /** The parameters of the query string, nested. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** What the path addresses; null if it is not below the prefix. */
  readonly addressed: Addressed | null
  readonly strapi: Half
  readonly octavo: Half
}

/** Headers that change what a client does with a response. */
const comparedHeaders = ['content-type', 'location', 'content-language'] as const

/** Bytes of a body that are compared. */
export interface PairOptions {
  readonly model: KnownModel
  readonly prefix: string
  readonly answerBytes: number
}

/** Puts two responses side by side. */
export async function pairOf(
  request: ComparedRequest,
  caller: string,
  answers: { readonly strapi: ServiceAnswer; readonly octavo: ServiceAnswer },
  { model, prefix, answerBytes }: PairOptions,
): Promise<ResponsePair> {
  const half = async (answer: ServiceAnswer): Promise<Half> => ({
    status: answer.status,
    headers: answer.headers,
    content: await contentOf(answer, answerBytes),
  })
  const path = decoded(pathOf(request.path))
  return {
    ...{ request, caller, path, addressed: addressedBy(model, prefix, path) },
    parameters: qs.parse(queryOf(request.path), { depth: 20, arrayLimit: 100, parameterLimit: 1_000 }),
    strapi: await half(answers.strapi),
    octavo: await half(answers.octavo),
  }
}

/** Compares statuses, then headers and bodies. */
export function differencesOf({ strapi, octavo }: ResponsePair, isIgnored: (path: JsonPath) => boolean): readonly Difference[] {
  const { add, list } = openDifferences()
  if (strapi.status !== octavo.status) {
    add('status', [], strapi.status, octavo.status)
    return list()
  }
  compareHeaders(strapi.headers, octavo.headers, add)
  compareContents(strapi.content, octavo.content, add, isIgnored)
  return list()
}

type Add = ReturnType<typeof openDifferences>['add']

function compareHeaders(strapi: IncomingHttpHeaders, octavo: IncomingHttpHeaders, add: Add): void {
  for (const name of comparedHeaders) {
    const [theirs, ours] = [strapi, octavo].map((headers) => (name === 'content-type' ? mediaTypeOf(headers) : headers[name]))
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

/** The JSON value of a body; undefined if it is something else. */
export const jsonValueOf = ({ content }: Half): unknown => (content.kind === 'json' ? content.value : undefined)

/** The message of an error in the form of the API; empty for other bodies. */
export function messageOf(half: Half): string {
  const body = jsonValueOf(half)
  const error = isRecord(body) ? body.error : null
  return isRecord(error) && typeof error.message === 'string' ? error.message : ''
}

/** The documents of a body with `data`: a list, or a single one. Bodies of users and files are lists themselves. */
export function documentsOf(half: Half): readonly Readonly<Record<string, unknown>>[] {
  const body = jsonValueOf(half)
  const data = isRecord(body) ? body.data : body
  return Array.isArray(data) ? data.filter(isRecord) : isRecord(data) ? [data] : []
}

/** The keys by which a request sorts; empty if it does not. */
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
