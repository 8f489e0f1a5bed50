// The operation of the event stream, where the project has one.
import { entryEvents } from '../../../../foundation/public/events.js'
import type { SchemaContext } from '../documents.js'
import { type ApiOperation, type DescriptionReader, inQuery } from '../operation.js'
import { list, text } from '../schema.js'

/** The stream at `path`; none if the reader can follow no content-type. */
export function eventOperations(context: SchemaContext, path: string | null, { may, isOpen }: DescriptionReader): readonly ApiOperation[] {
  if (path === null) return []
  const uids = [...context.view.model.types.values()].filter(({ exposed, uid }) => exposed && may(`${uid}.find`)).map(({ uid }) => uid)
  if (uids.length === 0) return []
  const commaList = { style: 'form', explode: false }
  const states = uids.some(context.showsDrafts) ? ['published', 'draft'] : ['published']
  return [
    {
      ...{ method: 'get', path, tag: 'events', summary: 'Stream events about documents' },
      // One type that needs no credentials is enough to follow without them.
      action: `${uids.find((uid) => isOpen(`${uid}.find`)) ?? uids[0]}.find`,
      description:
        'Server-sent events, until the client disconnects. The data of each is JSON with `event`, `createdAt`, `model`, `uid` and `entry`: the document as a GET of the caller returns it. `reset` says that some events were missed.',
      parameters: [
        inQuery('types', 'The content-types to follow; default: all that the caller may find.', list({ enum: uids.sort() }), commaList),
        inQuery('events', 'The events to follow; default: all.', list({ enum: entryEvents }), commaList),
        inQuery('status', 'Which versions to follow.', { enum: states, default: 'published' }),
        inQuery('lastEventId', 'The id of the last event that was received, for clients that cannot send `Last-Event-ID`.', text),
      ],
      success: { status: 200, description: 'The events.', schema: text, mediaType: 'text/event-stream' },
      errors: [429, 503],
    },
  ]
}
