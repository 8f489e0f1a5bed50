// Requests with an Idempotency-Key: what tells one from another, and what is answered for one that was done before.
import { doOnce } from '../../admin/identity/once.js'
import { digestOf } from '../../content/media/receive.js'
import type { MultipartBody } from '../multipart.js'
import type { Answered, Resource, ResourceRequest } from './resource.js'

/** Handles a request; with an `Idempotency-Key`, where its resource takes one, only once. @throws ApiError 409, 422 */
export async function handleOnce({ handle, again }: Resource, asked: ResourceRequest): Promise<Answered<unknown>> {
  const { once } = asked
  if (again === undefined || once === null) return handle(asked)
  const request = JSON.stringify([once.request, asked.body ?? null, asked.form === undefined ? null : await contentOf(asked.form)])
  return doOnce<Answered<unknown>>(
    asked.administration,
    asked.administrator,
    { ...once, request },
    {
      act: (keep) => handle({ ...asked, actor: { ...asked.actor, keep } }),
      isDone: ({ status = 200 }) => status < 400,
      again: (done) => again(asked, done),
    },
  )
}

/** What is in a form, whatever its boundary is. */
async function contentOf({ fields, files }: MultipartBody): Promise<unknown> {
  const sent: unknown[] = []
  for (const file of files) sent.push([file.name, file.declared, await digestOf(file)])
  return [[...fields], sent]
}
