// Reads that fail because another process has moved content meanwhile run again on the model that is in force by then.
import type { FastifyReply } from 'fastify'
import { ApiError } from '../foundation/errors/errors.js'
import type { Model } from '../model/schema/types.js'
import type { LoggedRequest } from './request-log.js'

/** Called with the model that a request is handled with. */
export type AdmitModel = (model: Model) => void

/**
 * Runs a request a second time that has failed with `error`, if it is a read and another model is in force by then (live-model.17). `run` calls
 * `admit` with the model before it does anything with it.
 * @throws `error` otherwise
 */
export function onModelInForce<Result>(
  { method, model: used }: LoggedRequest,
  reply: FastifyReply,
  error: unknown,
  run: (admit: AdmitModel) => Promise<Result>,
): Promise<Result> {
  const isRead = method === 'GET' || method === 'HEAD'
  const isFailure = !(error instanceof ApiError) || error.status >= 500
  if (used === undefined || !isRead || reply.sent || !isFailure) throw error
  return run((model) => {
    if (model === used) throw error
  })
}
