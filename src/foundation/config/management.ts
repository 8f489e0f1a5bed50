// The management port: where operators' tools ask for the state of the service, apart from its clients.
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { checkSecret } from './checks.js'
import { type Environment, integerOf } from './environment.js'

/** The management port; absent: there is none. */
export const managementSettings = () =>
  z.strictObject({
    /** Where to listen; 0: a free port, which the log names. */
    port: z.int().min(0).max(65_535).optional(),
    host: z.string().default('127.0.0.1'),
    /** What a scrape of `/metrics` has to send: `Authorization: Bearer <token>`; absent: nothing. */
    token: z.string().optional(),
  })

/** Where the management port listens. */
export interface ManagementConfig {
  readonly host: string
  readonly port: number
  /** The token of `/metrics`; null: none is needed. */
  readonly token: string | null
  /** True: a port in use ends the start; false: the service goes on without the port. */
  readonly isRequired: boolean
  /** Who asks the process: others at the port, or the main process, which has the port for several. */
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
