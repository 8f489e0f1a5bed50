// Bodies that were not read, or not as they were meant: content types, envelopes, texts in place of objects.
import { isObject } from '../../query/rest/parameters.js'
import { pathOf } from './documents.js'
import type { Hint, HintedExchange } from './exchange.js'
import { quoted } from './sentences.js'

/** 400 because the body was empty, or of a type that is not read. */
export const unreadBody: Hint = (exchange) => {
  const { asked, error, headers, method } = exchange
  if (error?.status !== 400 || asked?.body === null || asked === null || asked.body.value !== undefined) return null
  if (method !== 'POST' && method !== 'PUT') return null
  if (headers['content-type']?.startsWith('multipart/form-data')) return null
  const isEmpty =
    headers['content-length'] === '0' || (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
  const type = headers['content-type']
  if (isEmpty) return `The body is empty. Send JSON: ${exampleBody(exchange)}`
  const isJson = /[/+]json\b/.test(type ?? '')
  if (isJson) return `The body is empty. Send JSON: ${exampleBody(exchange)}`
  const given = type === undefined ? 'there is no Content-Type' : `its Content-Type is ${quoted(type)}`
  return `The body was not read, because ${given}. Send the header Content-Type: application/json`
}

function exampleBody({ type, path, config }: HintedExchange): string {
  if (path.startsWith(`${config.rest.prefix}/auth/local`)) return '{ "identifier": "…", "password": "…" }'
  return type?.exposed === false ? '{ "…": "…" }' : '{ "data": { … } }'
}

/** 400 because there is no `data` in a body that was read. */
export const missingData: Hint = (exchange) => {
  const { error, asked, headers, type } = exchange
  const value = asked?.body?.value
  if (error?.situation?.kind !== 'data' || value === undefined || type === null) return null
  if (Array.isArray(value)) return 'The body is a list. One request writes one document: { "data": { … } }'
  if (!isObject(value)) return null
  if ((headers['content-type'] ?? '').includes('urlencoded'))
    return 'The body was read as a form (application/x-www-form-urlencoded). Send JSON: Content-Type: application/json and { "data": { … } }'
  if (typeof value.data === 'string')
    return 'data is a text. It is an object: do not turn it into JSON before the body as a whole (JSON.stringify({ data: { … } })).'
  if (value.data !== undefined) return `data is ${quoted(value.data)}, and must be an object: { "data": { … } }`
  const names = Object.keys(value).filter((name) => type.attributes.has(name))
  return names.length > 0
    ? `Wrap the attributes (${names.slice(0, 3).join(', ')}) in "data": { "data": { ${quoted(names[0])}: … } }`
    : 'Wrap the attributes in "data": { "data": { … } }'
}

/** 400 because `data` is a list. */
export const listedData: Hint = ({ error, asked, type }) => {
  const value = asked?.body?.value
  if (error?.status !== 400 || type?.exposed !== true || !isObject(value) || !Array.isArray(value.data)) return null
  return 'data is a list. One request writes one document: send a request for each, with { "data": { … } }'
}

/** 400 for JSON that is a text in itself. */
export const twiceEncoded: Hint = ({ error, asked, headers, method }) => {
  if (error?.name !== 'SyntaxError' || asked === null || !/[/+]json\b/.test(headers['content-type'] ?? '')) return null
  return method === 'GET'
    ? null
    : 'The body must be a JSON object: check that it is encoded once (JSON.stringify), with double quotes and without a comma at the end.'
}

/** Members beside the attributes that are silently ignored. */
export const ignoredMembers: Hint = (exchange) => {
  const { status, type, asked, parameters } = exchange
  const data = dataOf(exchange)
  if (status >= 300 || type === null || asked === null || data === null) return null
  const ignored: string[] = []
  if (data.publishedAt !== undefined && type.draftAndPublish)
    ignored.push(
      `publishedAt (a document is published by status=published, the default, or by POST ${pathOf(exchange, type)}/<documentId>/actions/publish; status=draft keeps it a draft)`,
    )
  if (data.locale !== undefined && type.localized && data.locale !== (parameters.locale ?? asked.access.defaultLocale))
    ignored.push(`locale (the locale is a parameter of the query: ?locale=${String(data.locale)})`)
  if (data.data !== undefined && !type.attributes.has('data')) ignored.push('data inside of data (it is wrapped twice)')
  return ignored.length === 0 ? null : `Ignored in the body: ${ignored.join('; ')}.`
}

/** The `data` of a body for a content-type; null if there is none. */
export function dataOf({ asked, type }: HintedExchange): Readonly<Record<string, unknown>> | null {
  const value = asked?.body?.value
  return type?.exposed === true && isObject(value) && isObject(value.data) ? value.data : null
}
