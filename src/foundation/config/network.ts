// Network settings: the service, its management port, and its processes.

import { availableParallelism } from 'node:os'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { checkSecret, checkSite, withoutSlashes } from './checks.js'
import { type Environment, integerOf } from './environment.js'

/** The addresses of the service. */
export interface NetworkConfig {
  readonly host: string
  readonly port: number
  /** The public URL of the service, without a trailing slash. */
  readonly publicUrl: string
  /** Number of trusted reverse proxies in front of the service. */
  readonly trustProxy: number
}

/** The settings of octavo.config that the addresses are completed from. */
interface NetworkSettings {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly url?: string | undefined
  readonly trustProxy: number
}

/** Completes the addresses of the service. @throws ConfigError that names the invalid value */
export function networkOf(environment: Environment, given: NetworkSettings): NetworkConfig {
  const { HOST, PUBLIC_URL } = environment
  const port = integerOf(environment, 'PORT', 0, 65_535) ?? given.port ?? 1337
  if (PUBLIC_URL !== undefined) checkSite('PUBLIC_URL', PUBLIC_URL)
  return {
    host: HOST ?? given.host ?? '0.0.0.0',
    port,
    publicUrl: withoutSlashes(PUBLIC_URL ?? given.url ?? `http://localhost:${port}`),
    trustProxy: integerOf(environment, 'OCTAVO_TRUST_PROXY') ?? given.trustProxy,
  }
}

/** True if a service that listens on this host is only reachable from the same machine. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)

/** The management port; absent: there is none. */
export const managementSettings = () =>
  z.strictObject({
    /** 0: any free port, which the log names. */
    port: z.int().min(0).max(65_535).optional(),
    host: z.string().default('127.0.0.1'),
    /** Required for `/metrics` as `Authorization: Bearer <token>`; absent: no authorization. */
    token: z.string().optional(),
  })

/** The settings of the management port. */
export interface ManagementConfig {
  readonly host: string
  readonly port: number
  /** The token of `/metrics`; null: none is needed. */
  readonly token: string | null
  /** True: a port in use ends the start; false: the service goes on without the port. */
  readonly isRequired: boolean
  /** The process has its own port, or the main process has one for all. */
  readonly askedBy: 'port' | 'main'
  /** True: it listens before the database is prepared, for a process that serves in any case; otherwise right before the service does. */
  readonly opensFirst?: boolean
}

/** The environment variables that say where the management port listens, and who may read its metrics. */
export const managementVariables = {
  port: 'OCTAVO_MANAGEMENT_PORT',
  host: 'OCTAVO_MANAGEMENT_HOST',
  token: 'OCTAVO_MANAGEMENT_TOKEN',
} as const

/** Bounds of the management port, which are not part of the configuration. */
export const managementLimits = {
  connections: 100,
  /** Bytes of the request line and headers. */
  headerBytes: 8_192,
  /** Milliseconds for a whole request, between two of one connection, and for the last responses when the port is closed. */
  requestTimeout: 5_000,
  idleTimeout: 5_000,
  closing: 500,
  /** Milliseconds that a scrape waits for what the database is asked. */
  scrapeWait: 2_000,
  /** Milliseconds between two comparisons of the database with the model, which scrapes ask for. */
  driftEvery: 60_000,
  /** Milliseconds that the main process waits for the others on `/ready`, and on `/metrics`. */
  readyWait: 2_000,
  reportWait: 3_000,
} as const

/** Completes where the management port listens; null: nowhere. `servicePort`: that of the service. @throws ConfigError that names the invalid value */
export function managementOf(
  environment: Environment,
  given: z.output<ReturnType<typeof managementSettings>>,
  servicePort: number,
): ManagementConfig | null {
  const { OCTAVO_MANAGEMENT_HOST, OCTAVO_MANAGEMENT_TOKEN } = environment
  const port = integerOf(environment, 'OCTAVO_MANAGEMENT_PORT', 0, 65_535) ?? given.port
  if (port === undefined) return null
  if (port === servicePort && port !== 0) {
    const source = environment.OCTAVO_MANAGEMENT_PORT === undefined ? 'management.port' : 'OCTAVO_MANAGEMENT_PORT'
    throw new ConfigError(`${source} is ${port}, which is the port of the service itself. Choose another one.`)
  }
  const token = OCTAVO_MANAGEMENT_TOKEN ?? given.token ?? null
  if (token !== null) checkSecret(OCTAVO_MANAGEMENT_TOKEN === undefined ? 'management.token' : 'OCTAVO_MANAGEMENT_TOKEN', token)
  return { host: OCTAVO_MANAGEMENT_HOST ?? given.host, port, token, isRequired: true, askedBy: 'port' }
}

/** The most processes; each takes the memory of a service. */
const mostProcesses = 128

/** `processes` in octavo.config. */
export const processSettings = () => z.union([z.literal('auto'), z.int().min(1).max(mostProcesses)]).default(1)

/** The number that a text names. `source`: what the text was given by. @throws ConfigError that names the source */
function countOf(text: string, source: string): number {
  if (text === 'auto') return availableParallelism()
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= mostProcesses) return count
  throw new ConfigError(`${source} is "${text}"; it must be auto or a whole number from 1 to ${mostProcesses}.`)
}

/** The number of processes. @throws ConfigError that names the invalid value */
export function processesOf({ OCTAVO_PROCESSES }: Environment, given: z.output<ReturnType<typeof processSettings>>): number {
  return countOf(OCTAVO_PROCESSES ?? String(given), OCTAVO_PROCESSES === undefined ? 'processes' : 'OCTAVO_PROCESSES')
}

/** The same number for an option of the command. @throws ConfigError that names the option */
export const processOption = (text: string): number => countOf(text, '--processes')
