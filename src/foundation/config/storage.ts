// Settings of the file storage, from octavo.config and the environment. The names are those in Strapi's template for its S3 provider.

import { lstat, mkdir, readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { plainMessage } from './checks.js'
import type { Environment } from './environment.js'

/** Lifetime of a signed URL in seconds; S3 allows one week at most. */
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
    /** The base URL of files for clients, such as a CDN. */
    baseUrl: httpUrl().optional(),
    /** A prefix for the names of all files. */
    rootPath: z.string().default(''),
  })

/** The complete settings of a storage. */
const storageSchema = () => z.discriminatedUnion('provider', [local(), s3()])

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

/** All permissions, reduced by the umask. */
const usualMode = 0o777

/**
 * Creates the uploads folder if it is missing, with the folders above it. Each level is created by itself: Node 20's recursive `mkdir`
 * never ends in a file system that refuses new folders as missing, such as `/proc`. `mode` is that of the folder itself; those above it are created as usual.
 * @throws ConfigError that names the setting and the reason
 */
export const makeUploadsFolder = (folder: string, mode = usualMode): Promise<void> =>
  onUploadsFolder(folder, () => makeFolder(folder, mode))

/** Runs `work` in the uploads folder. @throws ConfigError that names the setting and the reason, if the system refuses it */
export async function onUploadsFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isOfSystem(error)) throw error
    throw new ConfigError(`The uploads folder ${folder} (uploads.folder or UPLOADS_DIR) cannot be used: ${await reasonOf(folder, error)}.`)
  }
}

const isOfSystem = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error

async function makeFolder(folder: string, mode: number): Promise<void> {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), usualMode)
  await mkdir(folder, { mode }).catch(async (error: NodeJS.ErrnoException) => {
    // Another process may have created it.
    if (error.code !== 'EEXIST' || !(await isFolder(folder))) throw error
  })
}

/** False where there is nothing, or a link to nothing. */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return false
    },
  )

async function reasonOf(folder: string, error: NodeJS.ErrnoException): Promise<string> {
  const path = error.path ?? folder
  const inside = error.syscall === 'mkdir' || error.syscall === 'open' ? dirname(path) : path
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
      return error.syscall === 'stat' ? `${path} cannot be reached by ${thisUser()}` : `${inside} cannot be written to by ${thisUser()}`
    case 'EROFS':
      return `${inside} is on a file system that is read-only`
    case 'EEXIST':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return (await obstacle(folder)) ?? `${path} cannot be created (${error.code})`
    default:
      return error.message
  }
}

const thisUser = (): string => (process.getuid === undefined ? 'this user' : `this user (uid ${process.getuid()})`)

/** The first part of the path that is no folder, as a clause; null if all that are there are folders. */
async function obstacle(folder: string): Promise<string | null> {
  const above = dirname(folder) === folder ? null : await obstacle(dirname(folder))
  if (above !== null) return above
  const [entry, target] = [await lstat(folder).catch(() => null), await stat(folder).catch((error: NodeJS.ErrnoException) => error)]
  if (entry === null) return null
  if (!(target instanceof Error)) return target.isDirectory() ? null : `${folder} is not a folder`
  if (!entry.isSymbolicLink()) return null
  const to = resolve(dirname(folder), await readlink(folder))
  return `${folder} is a link to ${to}, which ${target.code === 'ENOENT' ? 'does not exist' : `cannot be followed (${target.code})`}`
}
