// Relations, files and components in the data of a write.

/** The position of a connected document among its siblings; default: at the end. */
export type ConnectPosition =
  | { readonly before: string; readonly after?: never; readonly start?: never; readonly end?: never }
  | { readonly after: string; readonly before?: never; readonly start?: never; readonly end?: never }
  | { readonly start: true; readonly before?: never; readonly after?: never; readonly end?: never }
  | { readonly end: true; readonly before?: never; readonly after?: never; readonly start?: never }

/** A document by its documentId; `locale` and `status` choose the version if the owner has no locale or status. */
export interface DocumentReference {
  readonly documentId: string
  readonly id?: never
  readonly locale?: string | null
  readonly status?: 'draft' | 'published'
}

/** A row by its id. */
export interface RowById {
  readonly id: number
  readonly documentId?: never
}

/** A documentId, a row id, or an object with one of them. */
export type RelatedDocument = string | number | DocumentReference | RowById
/** The same with a position. */
export type ConnectedDocument = string | number | ((DocumentReference | RowById) & { readonly position?: ConnectPosition })

/** Changes a relation, or replaces it as a whole. */
export type RelationChange<Connected, Related> =
  | { readonly connect?: Connected | readonly Connected[]; readonly disconnect?: Related | readonly Related[]; readonly set?: never }
  | { readonly set: Related | readonly Related[] | null; readonly connect?: never; readonly disconnect?: never }

/** The value of a relation to one document; null removes it. */
export type RelationToOne = RelatedDocument | null | RelationChange<ConnectedDocument, RelatedDocument>
/** The value of a relation to many documents; a list replaces it. */
export type RelationToMany = RelatedDocument | readonly RelatedDocument[] | null | RelationChange<ConnectedDocument, RelatedDocument>

/** A document of one of several types. */
export type TypedReference<Uid extends string> = (DocumentReference | RowById) & { readonly __type: Uid }
/** The value of a relation to documents of several types. */
export type RelationToAny<Uid extends string> =
  | readonly TypedReference<Uid>[]
  | RelationChange<TypedReference<Uid> & { readonly position?: ConnectPosition & { readonly __type?: Uid } }, TypedReference<Uid>>

/** A file by its id or documentId. */
export type FileReference = number | string | { readonly id: number } | { readonly documentId: string }
/** The value of a media attribute for one file; null removes it. */
export type FileInput = FileReference | null | { readonly set: FileReference | readonly FileReference[] | null }
/** The value of a media attribute for several files; a list replaces them. */
export type FilesInput = FileReference | readonly FileReference[] | null | { readonly set: readonly FileReference[] | null }

/** A component: a new one, or with the `id` of the draft's own one what changes in it. */
export type ComponentData<Input> = { readonly documentId?: string } & (
  | (Input & { readonly id?: never })
  | (Partial<Input> & { readonly id: number })
)

/** An entry of a dynamic zone. */
export type ZoneEntryData<Uid extends string, Input> = ComponentData<Input> & { readonly __component: Uid }
