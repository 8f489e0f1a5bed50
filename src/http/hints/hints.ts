// The table of hints: which mistakes are explained, in this order. Only `octavo dev` and others with NODE_ENV `development` load this room.

import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { parseParameters } from '../../query/rest/parameters.js'
import { ignoredMembers, listedData, missingData, twiceEncoded, unreadBody } from './bodies.js'
import { invalidKey } from './body-names.js'
import { lostBlocks, missingTargets, nestedDocument, wrongValues } from './body-values.js'
import { closedHeaders, closedOrigin, rateLimited, refusedCredentials, unreadCredentials } from './credentials.js'
import { noDocument, noUser } from './documents.js'
import type { Hint, HintedExchange, RawExchange } from './exchange.js'
import { oneOfTwo, wrongValue } from './filter-values.js'
import { disabledProvider, malformedForm, missingFiles, wrongLink, wrongSignIn, wrongUser } from './forms.js'
import {
  changedPagination,
  flatPagination,
  ignoredParameters,
  lenientStatus,
  malformedParameter,
  unknownLocale,
  unknownPagination,
  unlistedGroup,
} from './parameters.js'
import { wrongPath } from './paths.js'
import { missingPermission, refusedByProject } from './permissions.js'
import { leftOutOfPopulate, populatedZone } from './populated.js'
import { invalidName, malformedFields } from './query-names.js'
import { unmatchedValue } from './unmatched-values.js'

/** Explains responses. */
export interface Hints {
  /** What is wrong with a request, and how to repair it; null if nothing is known to be. Never rejects. */
  explain(raw: RawExchange): Promise<string | null>
}

/** Of an error, the first one that applies is the cause. */
const ofErrors: readonly Hint[] = [
  closedHeaders,
  unreadCredentials,
  refusedCredentials,
  rateLimited,
  missingPermission,
  refusedByProject,
  wrongPath,
  noDocument,
  twiceEncoded,
  wrongSignIn,
  wrongUser,
  disabledProvider,
  missingFiles,
  malformedForm,
  wrongLink,
  unreadBody,
  missingData,
  listedData,
  nestedDocument,
  invalidKey,
  missingTargets,
  wrongValues,
  invalidName,
  malformedFields,
  populatedZone,
  wrongValue,
  oneOfTwo,
  unlistedGroup,
  malformedParameter,
  flatPagination,
  unknownLocale,
  ignoredParameters,
]

/** Of a response that seems right, several things can be wrong at once. */
const ofSilence: readonly Hint[] = [
  closedHeaders,
  unreadCredentials,
  noDocument,
  noUser,
  lostBlocks,
  ignoredMembers,
  ignoredParameters,
  unknownPagination,
  changedPagination,
  lenientStatus,
  unknownLocale,
  wrongValue,
  unmatchedValue,
  leftOutOfPopulate,
  closedOrigin,
]

/** Hints that one response has at most, and the characters of all of them. */
const [mostHints, longest] = [3, 900]
/** Milliseconds before the same line is logged again, and lines that are remembered. */
const [quietTime, mostRemembered] = [60_000, 500]

/** Opens the hints; each is logged too, as a page often cannot see headers. */
export function openHints(logger: Logger): Hints {
  const logged = new LRUCache<string, true>({ max: mostRemembered, ttl: quietTime })

  function log({ method, path, status }: HintedExchange, hint: string): void {
    const line = `${method} ${path} ${hint}`
    if (logged.has(line)) return
    logged.set(line, true)
    logger.warn({ method, path, status, hint }, `hint: ${hint}`)
  }

  return {
    explain: async (raw) => {
      try {
        const exchange = { ...raw, parameters: parseParameters(raw.query, raw.config.rest.arrayLimit) }
        const hint = await (exchange.error === null && exchange.status < 400 ? several(exchange) : first(exchange))
        if (hint !== null) log(exchange, hint)
        return hint
      } catch (error) {
        logger.error({ err: error }, 'a hint failed')
        return null
      }
    },
  }
}

async function first(exchange: HintedExchange): Promise<string | null> {
  for (const hint of ofErrors) {
    const found = await hint(exchange)
    if (found !== null) return bounded(found)
  }
  return null
}

async function several(exchange: HintedExchange): Promise<string | null> {
  const found: string[] = []
  for (const hint of ofSilence) {
    const one = found.length < mostHints ? await hint(exchange) : null
    if (one !== null) found.push(one)
  }
  return found.length === 0 ? null : bounded(found.join(' | '))
}

const bounded = (hint: string): string => (hint.length > longest ? `${hint.slice(0, longest)}…` : hint)
