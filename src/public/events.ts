// What has happened to content: one union, in Strapi's names and shapes. Recorded with the change itself, told after its commit.

/** What happens to a version of a document. */
export type EntryEventName = 'entry.create' | 'entry.update' | 'entry.delete' | 'entry.publish' | 'entry.unpublish' | 'entry.draft-discard'

/** What happens to a file of the media library. */
export type MediaEventName = 'media.create' | 'media.update' | 'media.delete'

interface Happened {
  /** Counts every event of the database from 1, in the order of the commits, without gaps. */
  readonly sequence: number
  /** ISO 8601. */
  readonly createdAt: string
}

/** A version of a document as it was committed, or as it was before it was removed. Private attributes and passwords are not in it. */
export interface EntryEvent extends Happened {
  readonly event: EntryEventName
  /** The singular name of its type: `article`. */
  readonly model: string
  /** `api::article.article`. */
  readonly uid: string
  readonly entry: Readonly<Record<string, unknown>>
}

export interface MediaEvent extends Happened {
  readonly event: MediaEventName
  readonly media: Readonly<Record<string, unknown>>
}

export type ContentEvent = EntryEvent | MediaEvent

/** Hears of every event after its commit, one at a time and in order. What it throws is logged. */
export type EventListener = (event: ContentEvent) => unknown
