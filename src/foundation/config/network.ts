// Where the service listens, and how others reach it.
import { checkSite, withoutSlashes } from './checks.js'
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
