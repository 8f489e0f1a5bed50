// The endpoints of content-types: /api/:name and /api/:name/:documentId. A name is looked up in the model at each
// request, so a new content-type needs no route.
import type { Caller } from '../../access/identify.js'
import type { ReadBytes } from '../../documents/read/find.js'
import { notFound } from '../../errors/errors.js'
import type { ContentType, Model } from '../../model/types.js'
import type { HookAction, OperationCaller } from '../../public/documents.js'
import { idempotencyKeyOf } from '../idempotency-key.js'
import type { Reply, RequestContext } from '../request-context.js'
import { created, noContent, okBytes } from '../request-context.js'

/** The type that answers at /api/:name, with one more part in the path or without. */
export function typeAt(model: Model, name: string, withDocument: boolean): ContentType | null {
  const type = model.paths.get(name.toLowerCase())
  return type === undefined || (type.singleType && withDocument) ? null : type
}

/** The methods of a content path, as the `Allow` header lists them. */
export function contentMethods(type: ContentType | null, withDocument: boolean): readonly string[] {
  if (type === null) return ['HEAD', 'GET']
  return withDocument || type.singleType ? ['HEAD', 'GET', 'PUT', 'DELETE'] : ['HEAD', 'GET', 'POST']
}

/** Answers a request of a content-type's endpoint. */
export async function handleContent(type: ContentType, method: string, context: RequestContext): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return write(type, method, context)
  const { caller, documents, params, query, format, isGone } = context
  const { documentId } = params
  const one = type.singleType || documentId !== undefined
  const answer = await documents.find(caller.grants, {
    type,
    action: `${type.uid}.${documentId === undefined ? 'find' : 'findOne'}`,
    mode: one ? 'first' : 'many',
    ...(documentId === undefined ? {} : { identity: { attribute: 'documentId' as const, value: documentId, wins: true } }),
    query,
    format,
    envelope: 'data',
    isGone,
  })
  if (answer === null) throw notFound()
  return okBytes(context.markSources === null ? answer : await marked(type, answer, context))
}

/** The answer with marks of where its texts come from, where the caller asked for them. */
const marked = async (type: ContentType, answer: ReadBytes, { markSources, documents }: RequestContext): Promise<ReadBytes> =>
  markSources === null ? answer : markSources(documents.context.model, type, answer)

/** The caller as hooks are told, without what it may do. */
const named = (caller: Caller): OperationCaller => (caller.kind === 'public' ? { kind: 'public' } : { kind: caller.kind, id: caller.id })

const methods: Readonly<Record<string, HookAction>> = { POST: 'create', PUT: 'update', DELETE: 'delete' }

async function write(type: ContentType, method: string, context: RequestContext): Promise<Reply> {
  const { caller, writes, params, query, format, body } = context
  const action = methods[method]!
  const answers = action === 'delete' ? 'nothing' : 'document'
  const outcome = await writes({
    ...{ action, grants: caller.grants, documentId: params.documentId ?? null, body: action === 'delete' ? null : body },
    ...(action === 'create' ? { once: () => idempotencyKeyOf(context.request, format) } : {}),
    write: { type, query, format, answers, caller: named(caller), depth: 0 },
  })
  if (action === 'delete') return noContent
  if (outcome === null) throw notFound()
  const answer = await marked(type, outcome.answer!, context)
  return action === 'create' ? created(answer) : okBytes(answer)
}

const actions: Readonly<Record<string, HookAction>> = { publish: 'publish', unpublish: 'unpublish', discard: 'discardDraft' }

/** True for what may stand in a path below a document, after `actions/`. */
export const isAction = (name: string): boolean => Object.hasOwn(actions, name)

/** Publishes, unpublishes or discards; an addition to what Strapi's Content API has. */
export async function handleAction(type: ContentType, action: string, context: RequestContext): Promise<Reply> {
  const { caller, writes, params, query, format } = context
  const outcome = await writes({
    ...{ action: actions[action]!, grants: caller.grants, documentId: params.documentId ?? null, body: null },
    write: { type, query, format, answers: 'document', caller: named(caller), depth: 0 },
    once: () => idempotencyKeyOf(context.request, format),
  })
  if (outcome === null) throw notFound()
  return okBytes(await marked(type, outcome.answer!, context))
}
