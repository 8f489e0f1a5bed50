// Settings of the REST API: from octavo.config, and from Strapi's `config/api` where octavo.config does not override it.
import * as z from 'zod'
import { dependsOnOctavo, signOfStrapi } from './files.js'
import { maxQueryParameters } from './limits.js'

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
        arrayLimit: z.int().positive().max(maxQueryParameters),
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

/** The settings in octavo.config with those of Strapi's `config/api` that it does not override. */
export const withStrapiApi = (
  { rest, responses, documents }: z.output<ReturnType<typeof strapiApi>>,
  own: z.input<ReturnType<typeof apiSettings>> = {},
): z.input<ReturnType<typeof apiSettings>> => ({
  rest: { ...rest, ...own.rest },
  responses: { ...responses, ...own.responses },
  documents: { ...documents, ...own.documents },
})

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
