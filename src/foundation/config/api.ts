// Settings of the REST API: from octavo.config, and from Strapi's `config/api` where octavo.config does not override it.

import * as z from 'zod'
import type { Environment } from './environment.js'
import { dependsOnOctavo, signOfStrapi } from './files.js'
import { maxQueryParameters } from './limits.js'
import { asNumber, readStrapiConfig, shown } from './strapi.js'

const rest = () =>
  z.strictObject({
    prefix: z
      .string()
      .regex(/^(?:\/[\w/-]*[\w-])?$/, 'must start with a slash and not end with one, or be empty')
      .default('/api'),
    defaultLimit: z.int().positive().default(25),
    maxLimit: z.int().positive().default(100),
    /** Members of one list in the query string. */
    arrayLimit: z.int().positive().max(maxQueryParameters).default(100),
    withCount: z.boolean().default(true),
    strictParams: z.boolean().default(false),
    /** Reading drafts requires the action `findDraft` of the type. */
    draftGrant: z.boolean().default(false),
    contract: z.enum(['specification', 'strapi']).optional(),
  })

/** Attributes of these names are private in every type and component. */
const responses = () => z.strictObject({ privateAttributes: z.array(z.string()).default([]) })

/** `strictRelations`: required relations and files are enforced. */
const documents = () => z.strictObject({ strictRelations: z.boolean().default(false) })

/** `api` in octavo.config. */
export const apiSettings = () =>
  z.strictObject({ rest: rest().prefault({}), responses: responses().prefault({}), documents: documents().prefault({}) })

/** The settings taken from Strapi's `config/api` unless octavo.config overrides them. */
export const strapiApi = () =>
  z.object({
    rest: z
      .object({
        prefix: rest().shape.prefix.unwrap(),
        defaultLimit: z.int().positive(),
        maxLimit: z.int().positive(),
        withCount: z.boolean(),
        strictParams: z.boolean(),
      })
      .partial()
      .prefault({}),
    responses: z.object({ privateAttributes: z.array(z.string()).default([]) }).prefault({}),
    documents: z.object({ strictRelations: z.boolean() }).partial().prefault({}),
  })

/** The settings of the REST API. */
export interface ApiConfig {
  readonly contract: 'specification' | 'strapi'
  /** True where the start says which contract holds and why: it is `strapi`, or a setting. */
  readonly saysContract: boolean
  /** Why this contract was chosen; printed at the start. */
  readonly contractReason: string
  /** Nothing says the contract so far: a database of Strapi may. */
  readonly isContractGuessed: boolean
  readonly rest: Readonly<Required<Omit<z.output<ReturnType<typeof rest>>, 'contract'>>>
  /** Attributes of these names are private in every type and component. */
  readonly privateAttributes: readonly string[]
  /** Required relations and files are enforced. */
  readonly strictRelations: boolean
}

/** Completes the settings of the API of the project in `root`. */
export function apiOf(
  root: string,
  { rest: { contract, ...options }, responses, documents }: z.output<ReturnType<typeof apiSettings>>,
): ApiConfig {
  const settings = {
    isContractGuessed: false,
    saysContract: true,
    rest: options,
    privateAttributes: responses.privateAttributes,
    strictRelations: documents.strictRelations,
  }
  if (contract !== undefined) return { contract, contractReason: 'set in octavo.config', ...settings }
  const sign = signOfStrapi(root)
  if (sign !== null) return { contract: 'strapi', contractReason: sign, ...settings }
  const contractReason = dependsOnOctavo(root) ? 'package.json depends on octavo' : 'the default'
  return { contract: 'specification', contractReason, ...settings, isContractGuessed: !dependsOnOctavo(root), saysContract: false }
}

/**
 * Reads `config/api`, with warnings as sentences for the log; null without one.
 * @throws ConfigError if a file cannot be read
 */
export async function readStrapiApi(
  root: string,
  environment: Environment,
): Promise<{ readonly config: unknown; readonly source: string; readonly warnings: readonly string[] } | null> {
  const file = await readStrapiConfig(root, 'api', environment)
  if (file === null) return null
  const { config, warnings } = asStrapiReads(file.config)
  return { config, source: file.source, warnings: warnings.map((warning) => `${file.source}: ${warning}`) }
}

/** The largest page where a project says that there is no largest one; no number in a project is as large. Responses stay within `limits.responseBytes`. */
export const unboundedPage = 2 ** 31 - 1

type Reading = { readonly value: unknown; readonly warning?: string }

/** A text that is not a number is kept, for the check of the configuration to name. */
const isUnreadable = (value: unknown): boolean => typeof value === 'string' && Number.isNaN(asNumber(value))

function pageSize(value: unknown, whereUnbounded: string | null): Reading {
  const number = isUnreadable(value) ? value : asNumber(value)
  if (typeof number === 'string' || (typeof number === 'number' && number >= 1))
    return { value: typeof number === 'number' ? Math.min(unboundedPage - 1, Math.floor(number)) : number }
  if (whereUnbounded !== null) return { value: unboundedPage, warning: whereUnbounded }
  return { value: undefined, warning: 'it has no effect' }
}

const isNegative = (value: unknown): boolean => typeof asNumber(value) === 'number' && (asNumber(value) as number) < 0

const readings: Readonly<Record<string, (value: unknown) => Reading>> = {
  maxLimit: (value) => pageSize(value, 'pages have no largest size, as in Strapi'),
  defaultLimit: (value) => pageSize(value, isNegative(value) ? 'pages are as large as they may be' : null),
  withCount: (value) =>
    typeof value === 'boolean' ? { value } : { value: Boolean(value), warning: `as in Strapi, it counts as ${Boolean(value)}` },
  strictParams: (value) => (typeof value === 'boolean' ? { value } : { value: false, warning: 'as in Strapi, it counts as false' }),
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function asStrapiReads(config: unknown): { readonly config: unknown; readonly warnings: readonly string[] } {
  if (!isObject(config)) return { config, warnings: [] }
  const { rest, ...others } = config
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null))
  if (!isObject(rest)) return { config: { ...given, rest }, warnings: [] }
  const warnings: string[] = []
  const read = Object.entries(rest).map(([name, value]) => {
    const reading = value === undefined || !Object.hasOwn(readings, name) ? { value } : readings[name]!(value)
    if (reading.warning !== undefined) warnings.push(`rest.${name} is ${shown(value)}: ${reading.warning}`)
    return [name, reading.value]
  })
  return { config: { ...given, rest: Object.fromEntries(read) }, warnings }
}
