// Classifies the response of a webhook: delivered, given up, or retried, and when.
import type { WebhookResponse } from './send.js'

export interface RetryLimits {
  readonly webhookAttempts: number
  readonly webhookRetryDelay: number
  readonly webhookMaxRetryDelay: number
}

/** `consumerPause`: milliseconds without requests to the webhook. */
type ResponseOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed'; readonly pause: number; readonly consumerPause: number }
  | { readonly kind: 'given-up' }

/** Permanent errors: the receiver will never accept the event, or no longer exists. */
const final: ReadonlySet<number> = new Set([400, 405, 410, 413, 414, 415, 422, 501])
/** The receiver is overloaded. */
const overloaded: ReadonlySet<number> = new Set([429, 503])
/** Exponential backoff with jitter. */
const growth = 3
const jitter = 0.2

/**
 * Decides about the `attempt`-th attempt. Every error that may be temporary is retried: no response, redirects, server errors, and also
 * 401, 403 and 404, which are caused by deployments and expired credentials.
 */
export function outcomeOf(
  { status, retryAfter }: Pick<WebhookResponse, 'status' | 'retryAfter'>,
  attempt: number,
  { webhookAttempts, webhookRetryDelay, webhookMaxRetryDelay }: RetryLimits,
  now: number,
  random: () => number = Math.random,
): ResponseOutcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered' }
  if (final.has(status) || attempt >= webhookAttempts) return { kind: 'given-up' }
  const usual = Math.min(webhookMaxRetryDelay, webhookRetryDelay * growth ** (attempt - 1))
  const pause = Math.round(usual * (1 - jitter + 2 * jitter * random()))
  const asked = Math.min(webhookMaxRetryDelay, askedPause(retryAfter, now))
  return { kind: 'failed', pause: Math.max(pause, asked), consumerPause: overloaded.has(status) ? asked : 0 }
}

/** Parses `Retry-After`, in seconds or as a date, to milliseconds; 0 if it is invalid. */
function askedPause(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000
  const moment = Date.parse(retryAfter)
  return Number.isNaN(moment) ? 0 : Math.max(0, moment - now)
}
