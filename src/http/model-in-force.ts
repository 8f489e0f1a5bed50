// Reads that fail because another process has moved content meanwhile run again on the model that is in force by then.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/errors.js'
import type { Model } from '../model/types.js'

const isFailure = (error: unknown): boolean => !(error instanceof ApiError) || error.status >= 500

/**
 * Runs a request; `run` calls `admit` with the model that it is handled with, before it does anything else with it. A read that fails runs a
 * second time if another model is in force by then (live-model.17).
 */
export async function onModelInForce<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (admit: (model: Model) => void) => Promise<Result>,
): Promise<Result> {
  let used: Model | null = null
  try {
    return await run((model) => {
      used = model
    })
  } catch (error) {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (used === null || !isRead || reply.sent || !isFailure(error)) throw error
    return run((model) => {
      if (model === used) throw error
    })
  }
}
