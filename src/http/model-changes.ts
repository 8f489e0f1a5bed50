// Shared parts of requests that change the model, in both APIs.
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../foundation/config/config.js'
import { ApiError } from '../foundation/errors/errors.js'
import type { ChangeResult, PlannedChange } from '../project/model-changes/change.js'
import type { ListedChange } from '../project/model-changes/change-log.js'

/** The content that a request agrees to hide, by the header `octavo-agree`. */
export const readAgreement = ({ headers }: { readonly headers: IncomingHttpHeaders }): ReadonlySet<string> =>
  new Set(
    String(headers['octavo-agree'] ?? '')
      .split(',')
      .map((name) => name.trim()),
  )

/** @throws ApiError 403 where the model is locked */
export function refuseLocked({ modelChanges }: Pick<Config, 'modelChanges'>): void {
  if (!modelChanges) throw new ApiError('ForbiddenError', 'The model is locked: the setting admin.model of octavo.config unlocks it')
}

/** A change or planned change in a response. */
export const withPlan = ({ version, plan }: ChangeResult | PlannedChange) => ({ version, ...plan })

/** A past change in a response. */
export const formatChange = ({ madeAt, ...change }: ListedChange) => ({ ...change, madeAt: new Date(madeAt).toISOString() })
