// The dependencies of the administration, created by its first request.

import type { RawBuilder } from 'kysely'
import { createIdempotencyKeys, type IdempotencyKeys } from '../content/documents/idempotency.js'
import type { Changes } from '../content/events/changes.js'
import { hasColumns, type MainConnection, type WriteDatabase } from '../database/database.js'
import type { Config } from '../foundation/config/config.js'
import { ApiError } from '../foundation/errors/errors.js'
import type { Identification } from '../identity/access/identify.js'
import { type Jwts, openJwts } from '../identity/access/jwt.js'
import type { Limiter } from '../identity/access/rate-limit.js'
import type { SessionLimits, SessionType } from '../identity/access/sessions.js'
import type { Mailer } from '../identity/accounts/email.js'
import type { Passwords } from '../identity/accounts/passwords.js'
import { type Feed, openFeed } from './feed.js'
import { missingTables } from './identity/administrators.js'
import {
  type AdministrationKeys,
  createIdentifyAdministrator,
  deriveAdministrationKeys,
  type IdentifyAdministrator,
} from './identity/identify.js'
import { createFindGrants, type FindGrants } from './permissions/grants.js'

interface AdministrationLog {
  error(details: object, message: string): void
  info(sentence: string): void
}

export interface AdministrationParts {
  readonly config: Config
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly identification: Pick<Identification, 'access' | 'cacheRows'>
  readonly limiter: Limiter
  readonly passwords: Passwords
  readonly mail: Mailer
  readonly log: AdministrationLog
  readonly changes: Changes
  /** The clock of the database, in milliseconds since 1970. */
  readonly timeOfDay: RawBuilder<unknown>
  now(): number
  /** Call after changes of scheduled actions. */
  scheduleChanged(): void
  /** Logs the code of the first administrator if there is none; resolves to whether there is none. */
  logFirstCode(): Promise<boolean>
}

/** The dependencies of the rules of the administration. */
export interface Administration extends Omit<AdministrationParts, 'identification'> {
  readonly feed: Feed
  readonly keys: AdministrationKeys
  readonly jwts: Jwts
  readonly sessionLimits: Readonly<Record<SessionType, SessionLimits>>
  /** Returns the administrator of a request. */
  readonly identify: IdentifyAdministrator
  /** The database has the history table of Strapi. */
  readonly hasHistory: boolean
  /** Results by Idempotency-Key, except for writes of documents. */
  readonly idempotency: IdempotencyKeys
  /** Returns the grants of an administrator for content. */
  readonly grantsOf: FindGrants
}

/** Creates the dependencies of the administration. Missing tables are not created. @throws ApiError 501 that names the missing tables */
export async function openAdministration(parts: AdministrationParts): Promise<Administration> {
  const { config, database, identification, changes, timeOfDay, log, now } = parts
  const missing = await missingTables(database)
  if (missing.length > 0)
    throw new ApiError(
      'NotImplementedError',
      `The database has no administrators: it lacks ${missing.join(', ')}. Start the current version of Strapi 5 on it once`,
    )
  const keys = deriveAdministrationKeys(config.secrets)
  const jwts = openJwts(keys.tokens, now)
  const { maxRefreshTokenLifespan, idleRefreshTokenLifespan, maxSessionLifespan, idleSessionLifespan } = config.admin.sessions
  return {
    ...parts,
    feed: openFeed({
      ...{ changes, identification, database, timeOfDay },
      failed: (err) => log.error({ err }, 'the events for administrators could not be read'),
    }),
    keys,
    jwts,
    sessionLimits: {
      refresh: { longest: maxRefreshTokenLifespan, idle: idleRefreshTokenLifespan },
      session: { longest: maxSessionLifespan, idle: idleSessionLifespan },
    },
    identify: createIdentifyAdministrator({ database, identification, jwts, keys, now }),
    hasHistory: await hasColumns(database, 'strapi_history_versions'),
    idempotency: createIdempotencyKeys(config.limits),
    grantsOf: createFindGrants(database, identification),
  }
}
