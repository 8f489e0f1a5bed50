// The query parameters of an event stream: which types and events, drafts or published versions, and where to continue.

import { boundedText } from '../../../foundation/errors/bounded-values.js'
import { didYouMean } from '../../../foundation/errors/did-you-mean.js'
import { validationError } from '../../../foundation/errors/errors.js'
import { entryEvents } from '../../../foundation/public/events.js'
import type { Model } from '../../../model/schema/types.js'

/** What a client wants to follow. */
export interface StreamParameters {
  /** Uids; null: every type that the caller may follow. */
  readonly types: ReadonlySet<string> | null
  /** Null: all. */
  readonly events: ReadonlySet<string> | null
  readonly status: 'published' | 'draft'
  /** The id of the last event that the client has; null: it begins now. */
  readonly lastEventId: string | null
}

const names = ['types', 'events', 'status', 'lastEventId']

/** What was sent, as a message repeats it. */
const shown = (text: string): string => boundedText(text, 100)

/** Reads the parameters. `header`: `Last-Event-ID`, which wins. @throws ApiError 400 */
export function readStreamParameters(model: Model, query: string, header: string | undefined): StreamParameters {
  const given = new Map<string, string[]>()
  for (const [key, value] of new URLSearchParams(query)) {
    const name = key.replace(/\[\d*\]$/, '')
    if (!names.includes(name))
      throw validationError(`Invalid parameter ${shown(name)}${didYouMean(name, names)}`, { source: 'query', param: shown(name) })
    const values = given.get(name)
    if (values === undefined) given.set(name, [value])
    else values.push(value)
  }
  const list = (name: string): readonly string[] | null => given.get(name)?.flatMap((value) => value.split(',')) ?? null
  const types = list('types')
  for (const uid of types ?? []) {
    if (model.types.get(uid)?.exposed !== true)
      throw validationError(`There is no content-type ${shown(uid)}${didYouMean(uid, model.types.keys())}`, {
        source: 'query',
        param: 'types',
      })
  }
  const events = list('events')
  for (const event of events ?? []) {
    if (!entryEvents.some((known) => known === event))
      throw validationError(`There is no event ${shown(event)}. The events are ${entryEvents.join(', ')}`, {
        source: 'query',
        param: 'events',
      })
  }
  const status = given.get('status')?.at(-1) ?? 'published'
  if (status !== 'published' && status !== 'draft') throw validationError('Invalid status. Expected "published" or "draft"')
  return {
    types: types === null ? null : new Set(types),
    events: events === null ? null : new Set(events),
    status,
    lastEventId: header ?? given.get('lastEventId')?.at(-1) ?? null,
  }
}
