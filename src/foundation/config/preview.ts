// Addresses at which administrators preview documents: `admin.preview` of octavo.config, or Strapi's config/admin where that has none.

import { AsyncLocalStorage } from 'node:async_hooks'
import * as z from 'zod'
import { didYouMean } from '../errors/did-you-mean.js'
import { ConfigError } from '../errors/errors.js'
import { checkedText, originProblem } from './checks.js'
import type { Environment } from './environment.js'
import { messageOf } from './files.js'
import { readStrapiConfig, strapiFiles, wordsOfStrapi } from './strapi.js'

/** A document, as a function names it. */
interface NamedDocument {
  readonly documentId: string
  /** The default locale unless it is given. */
  readonly locale?: string | null | undefined
  /** The draft unless it is given. */
  readonly status?: 'draft' | 'published' | undefined
  readonly fields?: unknown
  readonly populate?: unknown
}

/** The argument of a function that returns the address of a preview. */
export interface PreviewCall {
  /** The uid of the content-type. */
  readonly type: string
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
  readonly status: 'draft' | 'published'
  /** Attributes of the document that the administrator may read, without relations, components and files. */
  readonly document: Readonly<Record<string, unknown>>
  /** Reads a document as the administrator may; null: there is none. */
  findOne(type: string, document: NamedDocument): Promise<Readonly<Record<string, unknown>> | null>
}

/** Returns the address of a document; null: it has none. */
export type PreviewFunction = (call: PreviewCall) => string | null | undefined | Promise<string | null | undefined>

/** The setting, complete. */
export interface PreviewConfig {
  /** A template for all types, templates by uid, or a function. */
  readonly url: string | Readonly<Record<string, string>> | PreviewFunction
  /** Origins of addresses, and of pages that the editor talks to. */
  readonly origins: readonly string[]
  /** Addresses may be paths of this service. */
  readonly isOwn: boolean
}

const placeholder = /\{([^{}]*)\}/g
const ownPath = /^\/(?![/\\])/
const siteStart = /^(https?:\/\/[^\s/?#{}\\@]+)(?=[/?#]|$)/i

/** Names in templates that are not attributes. */
const documentNames: ReadonlySet<string> = new Set(['type', 'documentId', 'locale', 'status'])

/** The names of a template, in their order. */
const templateNames = (template: string): readonly string[] => [...template.matchAll(placeholder)].map(([, name]) => name!)

/** The address of a template, with its values encoded. */
export function fillTemplate(template: string, valueAt: (name: string) => string): string {
  return template.replace(placeholder, (_, name: string) => encodeURIComponent(valueAt(name)))
}

/** True for a path of this service. */
export const isOwnPath = (address: string): boolean => ownPath.test(address)

function templateProblem(template: string): string | null {
  const name = templateNames(template).find((one) => !/^[A-Za-z_]\w*$/.test(one))
  if (name !== undefined) return `"${template}" has {${name}}, which is not the name of an attribute`
  if (/[{}]/.test(template.replace(placeholder, ''))) return `"${template}" has a brace without the other one`
  if (isOwnPath(template)) return null
  const [, site] = siteStart.exec(template) ?? []
  return site !== undefined && URL.canParse(site)
    ? null
    : `"${template}" is not an address like https://www.example.org/articles/{slug}, or a path of this service like /articles/{slug}`
}

const template = () => checkedText(templateProblem)

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** The setting `admin.preview`. */
export const previewSettings = () =>
  z.strictObject({
    url: z.union(
      [template(), z.record(z.string(), template()).readonly(), z.custom<PreviewFunction>(isFunction)],
      // The problem of the member that is meant.
      {
        error: ({ input }) => {
          const given: readonly unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [input]
          const wrong = given.find((one) => typeof one !== 'string' || templateProblem(one) !== null)
          return typeof wrong === 'string' ? templateProblem(wrong)! : 'must be a template, templates by the uids of types, or a function'
        },
      },
    ),
    /** Origins of the pages, in addition to those of the templates. */
    origins: z.array(checkedText(previewOriginProblem)).readonly().optional(),
  })

const previewOriginProblem = (origin: string): string | null =>
  (origin === '*' ? null : originProblem(origin)) ?? (/^https?:/.test(origin) ? null : `"${origin}" is not the origin of a website`)

const templatesOf = (url: PreviewConfig['url']): readonly string[] =>
  typeof url === 'function' ? [] : typeof url === 'string' ? [url] : Object.values(url)

/** Completes the setting; null: there is no preview. */
export function previewOf(given: z.output<ReturnType<typeof previewSettings>> | undefined): PreviewConfig | null {
  if (given === undefined) return null
  const templates = templatesOf(given.url)
  const sites = templates.filter((one) => !isOwnPath(one)).map((one) => new URL(siteStart.exec(one)![1]!).origin)
  const origins = [...new Set([...sites, ...(given.origins ?? [])])]
  return { url: given.url, origins, isOwn: templates.some(isOwnPath) || origins.length === 0 }
}

/** Types of attributes that an address can have. */
const plainTypes: ReadonlySet<string> = new Set(['string', 'text', 'uid', 'enumeration', 'email', 'integer', 'biginteger', 'date'])

interface NamedAttributes {
  readonly attributes: ReadonlyMap<string, { readonly kind: string; readonly type?: string }>
}

/** The first name of a template that is no attribute with plain values; undefined: there is none. */
const unknownName = (template: string, { attributes }: NamedAttributes): string | undefined =>
  templateNames(template).find((name) => !documentNames.has(name) && !plainTypes.has(attributes.get(name)?.type ?? ''))

/** The template or function for a type; null: its documents have no preview. */
export function previewUrlOf(preview: PreviewConfig | null, uid: string, type: NamedAttributes): string | PreviewFunction | null {
  if (preview === null) return null
  const { url } = preview
  if (typeof url === 'function') return url
  if (typeof url === 'string') return unknownName(url, type) === undefined ? url : null
  return Object.hasOwn(url, uid) ? url[uid]! : null
}

/** @throws ConfigError for types and attributes that the model lacks */
export function checkPreview(
  preview: PreviewConfig | null,
  types: ReadonlyMap<string, NamedAttributes & { readonly exposed: boolean }>,
): void {
  if (preview === null || typeof preview.url === 'function') return
  const problem = problemIn(preview.url, new Map([...types].filter(([, type]) => type.exposed)))
  if (problem !== null) throw new ConfigError(`Invalid configuration (octavo.config): admin.preview.url: ${problem}.`)
}

function problemIn(url: string | Readonly<Record<string, string>>, types: ReadonlyMap<string, NamedAttributes>): string | null {
  if (typeof url === 'string')
    return types.size > 0 && [...types.values()].every((type) => unknownName(url, type) !== undefined)
      ? `no type has all attributes of "${url}" with plain values`
      : null
  for (const [uid, given] of Object.entries(url)) {
    const type = types.get(uid)
    if (type === undefined) return `there is no type ${uid}${didYouMean(uid, [...types.keys()])}`
    const name = unknownName(given, type)
    if (name === undefined) continue
    return type.attributes.has(name)
      ? `"${given}": ${name} of ${uid} has no plain values, such as a text or a number`
      : `"${given}": ${uid} has no attribute ${name}${didYouMean(name, [...documentNames, ...type.attributes.keys()])}`
  }
  return null
}

/** The global `strapi` for a handler of Strapi's config/admin. */
interface HandlerGlobal {
  documents(type: string): { findOne(document: NamedDocument): ReturnType<PreviewCall['findOne']> }
}

type StrapiHandler = (type: string, document: Pick<PreviewCall, 'documentId' | 'locale' | 'status'>) => ReturnType<PreviewFunction>

const handling = new AsyncLocalStorage<HandlerGlobal>()

/** Gives handlers the documents that the administrator may read, and other code of the process nothing. */
function asFunction(handler: StrapiHandler): PreviewFunction {
  if (!('strapi' in globalThis))
    Object.defineProperty(globalThis, 'strapi', { get: () => handling.getStore(), configurable: true, enumerable: false })
  return ({ type, documentId, locale, status, findOne }) =>
    handling.run({ documents: (uid) => ({ findOne: (document) => findOne(uid, document) }) }, () =>
      handler(type, { documentId, locale, status }),
    )
}

/** The preview of a Strapi project. */
interface StrapiPreview {
  readonly preview: PreviewConfig | null
  /** Why it has none, as a sentence for the log. */
  readonly problem: string | null
}

/**
 * Reads `preview` of a Strapi project's `config/admin`; null without one. The file is only run where its text names a handler: its code may
 * depend on Strapi, so errors become a `problem`.
 */
export async function readStrapiPreview(root: string, environment: Environment): Promise<StrapiPreview | null> {
  if (!wordsOfStrapi(root, 'admin', environment).has('handler')) return null
  const unusable = (why: string): StrapiPreview => ({
    preview: null,
    problem: `The preview of ${strapiFiles(root, 'admin', environment).join(' and ')} is not used (${why}). Set admin.preview in octavo.config`,
  })
  try {
    const { config } = (await readStrapiConfig(root, 'admin', environment))!
    const { preview } = (config ?? {}) as {
      readonly preview?: { readonly enabled?: unknown; readonly config?: { readonly handler?: unknown; readonly allowedOrigins?: unknown } }
    }
    if (preview === undefined || preview.enabled === false) return null
    const { handler, allowedOrigins = [] } = preview.config ?? {}
    if (!isFunction(handler)) return unusable('preview.config.handler is not a function')
    const origins: readonly unknown[] = Array.isArray(allowedOrigins) ? allowedOrigins : [allowedOrigins]
    const given = origins.filter((origin) => origin !== undefined && origin !== null && origin !== '')
    const sites = given.map((origin) => (URL.canParse(String(origin)) ? new URL(String(origin)).origin : String(origin)))
    const wrong = sites.map(previewOriginProblem).find((problem) => problem !== null)
    if (wrong !== undefined) return unusable(`preview.config.allowedOrigins: ${wrong}`)
    if (sites.length === 0) return unusable('preview.config.allowedOrigins has no origin')
    return { preview: { url: asFunction(handler as StrapiHandler), origins: [...new Set(sites)], isOwn: false }, problem: null }
  } catch (error) {
    return unusable(messageOf(error))
  }
}
