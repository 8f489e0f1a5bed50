// The secrets of a project, from the environment; those that are not set are generated.
import { checkLength, checkSecret } from './checks.js'
import type { Environment } from './environment.js'

/** The secrets of a project. */
export interface Secrets {
  readonly apiTokenSalt: string
  readonly jwtSecret: string
  /** The secret of Strapi's panel, which keys of administrators also depend on; null if it is not set. It is never generated. */
  readonly adminJwtSecret: string | null
}

/** The secrets, and where they come from. */
export interface SecretsConfig {
  readonly secrets: Secrets
  /** Secrets that are neither in the environment nor in .env: generated, and still to be saved. */
  readonly missingSecrets: Readonly<Record<string, string>>
}

/** The environment variable of each secret that every project has. */
const variables: Readonly<Record<Exclude<keyof Secrets, 'adminJwtSecret'>, string>> = {
  apiTokenSalt: 'API_TOKEN_SALT',
  jwtSecret: 'JWT_SECRET',
}

/** The secrets that are set, by their variables. */
export const setSecrets = (environment: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.values(variables).flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** @throws ConfigError for short secrets that were set. Strapi accepts them, so a project of Strapi starts with a warning instead. */
export function refuseShort({ secrets, missingSecrets }: SecretsConfig): void {
  for (const [key, name] of Object.entries(variables))
    if (missingSecrets[name] === undefined) checkLength(name, secrets[key as keyof typeof variables])
}

/**
 * Returns the secrets, and generates those that are not set.
 * @throws ConfigError for a secret that is easy to guess
 */
export function secretsOf(environment: Environment, makeSecret: () => string): SecretsConfig {
  const missingSecrets: Record<string, string> = {}
  const secretOf = (name: string): string => {
    const value = environment[name]
    if (value === undefined) {
      missingSecrets[name] = makeSecret()
      return missingSecrets[name]
    }
    checkSecret(name, value)
    return value
  }
  const secrets = {
    apiTokenSalt: secretOf(variables.apiTokenSalt),
    jwtSecret: secretOf(variables.jwtSecret),
    adminJwtSecret: environment.ADMIN_JWT_SECRET ?? null,
  }
  return { secrets, missingSecrets }
}
