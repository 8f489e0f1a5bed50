// What scripts and hooks see of a service: documents by their type, and the hooks of octavo.config. Types only.
import type { Grants } from '../grants.js'

/** A document as it is answered: plain data. Attributes hold what the type says; `Documents<Article>` names them. */
export interface Document {
  readonly id: number
  readonly documentId: string
  readonly [attribute: string]: unknown
}

/** `'author'`, `['author', 'tags.icon']`, `'*'`, or one object of parameters for each attribute. */
export type Populate = string | readonly string[] | Readonly<Record<string, unknown>>

/** What an answer shows. */
export interface Shown {
  /** Attributes, all without it. */
  readonly fields?: string | readonly string[]
  readonly populate?: Populate
}

/** Which version of a document is meant. */
export interface Version extends Shown {
  /** A locale of the type; the default one without it. */
  readonly locale?: string
  /** `draft` without it. A write with `published` publishes. */
  readonly status?: 'draft' | 'published'
}

/** Which documents are meant. Filters and sort keys are those of the REST API, as data. */
export interface Criteria extends Version {
  readonly filters?: Readonly<Record<string, unknown>>
  readonly sort?: string | readonly unknown[] | Readonly<Record<string, unknown>>
  /** Text to look for in all attributes that are text. */
  readonly _q?: string
}

export interface ListParameters extends Criteria {
  /** The first of the documents found, from 0. */
  readonly start?: number
  /** How many at most; all without it. */
  readonly limit?: number
  /** The same in pages from 1, or in offsets. */
  readonly pagination?: { readonly page?: number; readonly pageSize?: number } | { readonly start?: number; readonly limit?: number }
}

/** Names one document. Single types have one: its documentId may be left out. */
export interface Identity {
  readonly documentId?: string
}

/** Attributes and their values, as in the `data` of a body. Dates become ISO texts. */
export type Data = Readonly<Record<string, unknown>>

/** The versions that an act was about; for those that are gone, as they were. */
export interface Entries<Shape> {
  readonly documentId: string
  readonly entries: readonly Shape[]
}

/**
 * The documents of one type, in the shape of Strapi 5's document service. Every method throws an `ApiError`: 400 for what makes
 * no sense, 403 without the grant, 503 when the database is busy.
 */
export interface Documents<Shape = Document> {
  findMany(parameters?: ListParameters): Promise<Shape[]>
  findFirst(parameters?: Criteria): Promise<Shape | null>
  findOne(parameters: Identity & Version): Promise<Shape | null>
  count(parameters?: Omit<Criteria, 'fields' | 'populate' | 'sort'>): Promise<number>
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create(parameters: Version & { readonly data: Data }): Promise<Shape>
  /** Changes the draft, and publishes it with `status: 'published'`. Null where there is no such document. */
  update(parameters: Identity & Version & { readonly data: Data }): Promise<Shape | null>
  /** Removes the versions in one locale, or with `*` all. */
  delete(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  /** Publishes the draft in one locale, or with `*` in all. Types with Draft & Publish only, like the next two. */
  publish(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  unpublish(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  /** Gives the draft what the published version has. */
  discardDraft(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
}

/** `documents('api::article.article')`. Without `grants` everything is allowed. */
export type DocumentService = <Shape = Document>(uid: string, options?: { readonly grants?: Grants }) => Documents<Shape>

export type HookAction = 'create' | 'update' | 'delete' | 'publish' | 'unpublish' | 'discardDraft'

/** Who asked for an operation. */
export interface OperationCaller {
  readonly kind: 'public' | 'token' | 'user'
  /** The row id of the token or user. */
  readonly id?: number
}

interface HookCall {
  readonly action: HookAction
  readonly uid: string
  /** `*`: all locales. Null on types that are not localized. */
  readonly locale: string | null
  /** Whether a create or an update publishes; types without Draft & Publish are always published. */
  readonly status: 'draft' | 'published'
  /** Null: a script, or another hook. */
  readonly caller: OperationCaller | null
  /** Everything may be read and written. What a hook writes is an operation of its own, with its own hooks. */
  readonly documents: DocumentService
  /** Aborted when the hook has taken longer than `limits.hookTimeout`. */
  readonly signal: AbortSignal
}

/** What a before-hook is told. The transaction has not started. */
export interface BeforeCall extends HookCall {
  /** Null for a create, and for a single type's document that was not named. */
  readonly documentId: string | null
  /** What shall be written, not checked yet; may be changed or replaced. Null where an action writes no data. */
  data: Record<string, unknown> | null
}

/** What an after-hook is told. The change is committed. */
export interface AfterCall extends HookCall {
  readonly documentId: string
  /** What was asked to be written. */
  readonly data: Data | null
  /** The version that was written, published, removed …; several where several locales were meant. */
  readonly entries: readonly Document[]
}

/** Code of the project that runs once for every operation on documents, however it was asked for. */
export interface Hook {
  /** For the log. */
  readonly name?: string
  /** All types without it. */
  readonly types?: readonly string[]
  /** All actions without it. */
  readonly actions?: readonly HookAction[]
  /** Runs before the transaction. An `ApiError`, or an error with such a name, is the answer; any other is 500 and logged. */
  readonly before?: (call: BeforeCall) => unknown
  /** Runs after the commit, before the answer. What it throws is logged. */
  readonly after?: (call: AfterCall) => unknown
}
