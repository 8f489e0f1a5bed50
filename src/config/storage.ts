// Where uploaded files are kept, as octavo.config and the environment say it. The names are those of Strapi's scaffold for
// its S3 provider. Known to all rooms.
import * as z from 'zod'

/** Seconds that a signed address holds; S3 takes a week at most. */
const signedUrlExpires = z.coerce.number().int().min(30).max(604_800).default(900)
const httpAddress = z.url({ protocol: /^https?$/ })

const local = z.strictObject({
  provider: z.literal('local'),
  /** Files are only served under signed addresses, which answers carry. */
  private: z.boolean().default(false),
  signedUrlExpires,
})

const s3 = z.strictObject({
  provider: z.literal('aws-s3'),
  bucket: z.string().regex(/^[A-Za-z0-9][\w.-]*$/),
  region: z.string().regex(/^[\w-]+$/),
  accessKeyId: z.string().min(1),
  secretAccessKey: z.string().min(1),
  sessionToken: z.string().optional(),
  /** Another service than Amazon's. */
  endpoint: httpAddress.optional(),
  /** The bucket as the first part of the path instead of the name of the host. */
  forcePathStyle: z.boolean().optional(),
  /** `private`: answers carry signed addresses. `none`: the bucket knows no such lists and decides by itself. */
  acl: z.string().default('public-read'),
  signedUrlExpires,
  /** The address under which clients read files: that of a CDN. */
  baseUrl: httpAddress.optional(),
  /** In front of the names of all files. */
  rootPath: z.string().default(''),
})

export const storageSchema = z.discriminatedUnion('provider', [local, s3])

/** What octavo.config may say: for S3, whatever it leaves out the environment says. */
export const givenStorage = z.discriminatedUnion('provider', [local, s3.partial().extend({ provider: z.literal('aws-s3') })])

export type StorageConfig = Readonly<z.output<typeof storageSchema>>
export type S3Config = Extract<StorageConfig, { readonly provider: 'aws-s3' }>

type Environment = Readonly<Record<string, string | undefined>>

/** The storage with what the environment says of it. */
export function storageOf(given: z.output<typeof givenStorage>, environment: Environment): z.ZodSafeParseResult<StorageConfig> {
  if (given.provider === 'local') return storageSchema.safeParse(given)
  const set = Object.entries(variables).flatMap(([key, names]) => {
    const value = names.map((name) => environment[name]).find((one) => one !== undefined && one !== '')
    return value === undefined ? [] : [[key, key === 'forcePathStyle' ? value === 'true' : value]]
  })
  return storageSchema.safeParse({ ...given, ...Object.fromEntries(set) })
}

/** What is wrong with the storage, naming the value in octavo.config and in the environment. */
export function storageProblem({ issues }: z.ZodError): string {
  const [issue] = issues
  const key = String(issue!.path[0] ?? '')
  const names: readonly string[] = variables[key as keyof typeof variables] ?? []
  return `uploads.storage.${key}${names.length === 0 ? '' : ` (or ${names[0]})`} is not right: ${issue!.message}.`
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
