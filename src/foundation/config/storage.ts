// Settings of the file storage, from octavo.config and the environment. The names are those in Strapi's template for its S3 provider.
import * as z from 'zod'
import { plainMessage } from './checks.js'
import type { Environment } from './environment.js'

/** Seconds for which a signed URL is valid; S3 allows one week at most. */
const signedUrlExpires = () => z.coerce.number().int().min(30).max(604_800).default(900)
const httpUrl = () => z.url({ protocol: /^https?$/ })

const local = () =>
  z.strictObject({
    provider: z.literal('local'),
    /** Files are only served at signed URLs, which responses contain. */
    private: z.boolean().default(false),
    signedUrlExpires: signedUrlExpires(),
  })

const s3 = () =>
  z.strictObject({
    provider: z.literal('aws-s3'),
    bucket: z.string().regex(/^[A-Za-z0-9][\w.-]*$/),
    region: z.string().regex(/^[\w-]+$/),
    accessKeyId: z.string().min(1),
    secretAccessKey: z.string().min(1),
    sessionToken: z.string().optional(),
    /** The URL of an S3-compatible service other than Amazon's. */
    endpoint: httpUrl().optional(),
    /** Put the bucket into the path instead of the host name. */
    forcePathStyle: z.boolean().optional(),
    /** `private`: responses contain signed URLs. `none`: send no ACL; the policy of the bucket applies. */
    acl: z.string().default('public-read'),
    signedUrlExpires: signedUrlExpires(),
    /** The URL from which clients read files, such as that of a CDN. */
    baseUrl: httpUrl().optional(),
    /** A prefix for the names of all files. */
    rootPath: z.string().default(''),
  })

/** The complete settings of a storage. */
export const storageSchema = () => z.discriminatedUnion('provider', [local(), s3()])

/** The storage in octavo.config; for S3, missing values come from the environment. */
export const givenStorage = () =>
  z.discriminatedUnion('provider', [
    local(),
    s3()
      .partial()
      .extend({ provider: z.literal('aws-s3') }),
  ])

/** The settings of a storage. */
export type StorageConfig = Readonly<z.output<ReturnType<typeof storageSchema>>>
/** The settings of a storage in S3. */
export type S3Config = Extract<StorageConfig, { readonly provider: 'aws-s3' }>

/** Completes the storage settings from the environment. */
export function storageOf(given: z.output<ReturnType<typeof givenStorage>>, environment: Environment): z.ZodSafeParseResult<StorageConfig> {
  if (given.provider === 'local') return storageSchema().safeParse(given)
  const set = Object.entries(variables).flatMap(([key, names]) => {
    const value = names.map((name) => environment[name]).find((one) => one !== undefined && one !== '')
    return value === undefined ? [] : [[key, key === 'forcePathStyle' ? value === 'true' : value]]
  })
  return storageSchema().safeParse({ ...given, ...Object.fromEntries(set) })
}

/** Describes an invalid storage setting with its name in octavo.config and in the environment. */
export function storageProblem({ issues }: z.ZodError): string {
  const [issue] = issues
  const key = String(issue!.path[0] ?? '')
  const names: readonly string[] = variables[key as keyof typeof variables] ?? []
  return `Invalid configuration (uploads.storage.${key}${names.length === 0 ? '' : ` or ${names[0]}`}): ${plainMessage(issue!.message)}.`
}

const variables = {
  bucket: ['AWS_BUCKET'],
  region: ['AWS_REGION'],
  accessKeyId: ['AWS_ACCESS_KEY_ID'],
  secretAccessKey: ['AWS_ACCESS_SECRET', 'AWS_SECRET_ACCESS_KEY'],
  sessionToken: ['AWS_SESSION_TOKEN'],
  endpoint: ['AWS_ENDPOINT'],
  forcePathStyle: ['AWS_FORCE_PATH_STYLE'],
  acl: ['AWS_ACL'],
  signedUrlExpires: ['AWS_SIGNED_URL_EXPIRES'],
  baseUrl: ['CDN_URL'],
  rootPath: ['CDN_ROOT_PATH'],
}

/** The environment variables of the storage. */
export const storageVariables: readonly string[] = Object.values(variables).flat()
