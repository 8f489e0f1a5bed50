// Events about content, with the names and payloads of Strapi's webhooks. Recorded with the change, delivered after its commit.

/** Events about a version of a document. */
export type EntryEventName = (typeof entryEvents)[number]

/** In the order of messages. */
export const entryEvents = [
  'entry.create',
  'entry.update',
  'entry.delete',
  'entry.publish',
  'entry.unpublish',
  'entry.draft-discard',
] as const

/** Events about a file of the media library. */
export type MediaEventName = 'media.create' | 'media.update' | 'media.delete'

interface EventBase {
  /** Number of the event in the order of commits, starting at 1, without gaps. */
  readonly sequence: number
  /** ISO 8601. */
  readonly createdAt: string
}

/** An event with a version of a document as committed, or as it was before it was deleted. Without private attributes and passwords. */
export interface EntryEvent extends EventBase {
  readonly event: EntryEventName
  /** The singular name of its type: `article`. */
  readonly model: string
  /** `api::article.article`. */
  readonly uid: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** An event about a file. */
export interface MediaEvent extends EventBase {
  readonly event: MediaEventName
  readonly media: Readonly<Record<string, unknown>>
}

/** Any event. */
export type ContentEvent = EntryEvent | MediaEvent

/** Called with every event after its commit, one at a time and in order. Errors are logged. */
export type EventListener = (event: ContentEvent) => unknown
