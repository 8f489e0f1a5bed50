// The parameters of reads and writes of one content-type. Type parameters carry what the result depends on.
import type { ContentShape, ContentTypeShape } from './content-types.js'
import type {
  CheckedFields,
  CheckedPopulate,
  CheckedSort,
  FieldsParameter,
  NoSuchParameter,
  PopulateParameter,
  SortParameter,
} from './selection.js'

/** Parameters that select the content of a response. */
export interface ShownAttributes<T extends ContentShape, Selected, Given> {
  /** Attributes to include; default: all. `id` and `documentId` are always included. */
  readonly fields?: Selected & CheckedFields<T, Selected>
  /** Relations, media, components and dynamic zones to include; default: none. */
  readonly populate?: Given & CheckedPopulate<T, Given>
}

/** The version of a document, and the content of the response. */
export interface VersionQuery<T extends ContentShape, Asked, Selected, Given> extends ShownAttributes<T, Selected, Given> {
  /** A locale; default: the default locale. */
  readonly locale?: string
  readonly status?: Asked
}

/** Parameters that select documents. */
export interface CriteriaQuery<T extends ContentShape, Asked, Selected, Given, Sorted> extends VersionQuery<T, Asked, Selected, Given> {
  readonly filters?: T['filters']
  readonly sort?: Sorted & CheckedSort<T, Sorted>
  /** Text to search in all text attributes. */
  readonly _q?: string
}

/** Conditions on the draft and published versions of a document. */
export type PublicationFilter =
  | 'never-published'
  | 'has-published-version'
  | 'modified'
  | 'unmodified'
  | 'never-published-document'
  | 'has-published-version-document'
  | 'published-without-draft'
  | 'published-with-draft'

/** A part of a list, as a page counted from 1 or as an offset. */
export type PaginationParameter =
  | { readonly page?: number; readonly pageSize?: number; readonly withCount?: boolean; readonly start?: never; readonly limit?: never }
  | { readonly start?: number; readonly limit?: number; readonly withCount?: boolean; readonly page?: never; readonly pageSize?: never }

/** The parameters of a single document over the API. */
export interface DocumentQuery<T extends ContentShape, Asked, Selected, Given> extends VersionQuery<T, Asked, Selected, Given> {
  /** The document must fulfil these; otherwise it is not found. */
  readonly filters?: T['filters']
}

/** The parameters of a list over the API. */
export interface ListQuery<T extends ContentShape, Asked, Selected, Given, Sorted, Pages>
  extends Omit<CriteriaQuery<T, Asked, Selected, Given, Sorted>, 'locale'> {
  /** A locale, several, or `*` for all; default: the default locale. */
  readonly locale?: string | readonly string[]
  /** Default: the first page, of 25 documents. */
  readonly pagination?: Pages & { readonly [Key in keyof Pages]: Key extends keyof PaginationParameter ? unknown : NoSuchParameter<Key> }
  readonly publicationFilter?: PublicationFilter
  readonly hasPublishedVersion?: boolean
}

/** Values of `fields`. */
export type FieldsArgument<T extends ContentShape> = FieldsParameter<T> | undefined
/** Values of `populate`. */
export type PopulateArgument<T extends ContentShape> = PopulateParameter<T> | undefined
/** Values of `sort`. */
export type SortArgument<T extends ContentShape> = SortParameter<T> | undefined
/** Values of `status`. */
export type StatusArgument = 'published' | 'draft' | undefined

/** The attributes of a new document: complete if it is published at once. */
export type CreateData<T extends ContentTypeShape, Asked> = Asked extends 'draft'
  ? T['drafts'] extends true
    ? T['draftInput']
    : T['input']
  : T['input']

/** The attributes of a document to change; those that are absent stay. */
export type UpdateData<T extends ContentTypeShape, Asked> = Partial<CreateData<T, Asked>>

/** `$and`, `$or` and `$not`, which join filters. */
export interface Junctions<Filters> {
  readonly $and?: readonly Filters[]
  readonly $or?: readonly Filters[]
  readonly $not?: Filters
}

/** Operators of every attribute. */
export interface PresenceOperators {
  readonly $null?: boolean
  readonly $notNull?: boolean
}

/** Operators that compare with equal values. */
export interface EqualityOperators<Value> extends PresenceOperators {
  readonly $eq?: Value
  readonly $ne?: Value
  readonly $in?: readonly Value[]
  readonly $notIn?: readonly Value[]
}

/** Operators that compare by size. */
export interface ComparisonOperators<Value> extends EqualityOperators<Value> {
  readonly $lt?: Value
  readonly $lte?: Value
  readonly $gt?: Value
  readonly $gte?: Value
  readonly $between?: readonly [Value, Value]
}

/** Operators that look into texts. The `i` forms ignore case. */
export interface TextOperators {
  readonly $eqi?: string
  readonly $nei?: string
  readonly $contains?: string
  readonly $notContains?: string
  readonly $containsi?: string
  readonly $notContainsi?: string
  readonly $startsWith?: string
  readonly $startsWithi?: string
  readonly $endsWith?: string
  readonly $endsWithi?: string
}

/** A value (`$eq`), a list of values (`$in`), or operators. `$not` negates the operators below it. */
type Operand<Value, Operators> = Value | readonly Value[] | (Operators & { readonly $not?: Operators })

/** A condition on a string, text, richtext, email or uid. */
export type TextFilter = Operand<string, ComparisonOperators<string> & TextOperators>

/** A condition on an enumeration. */
export type ChoiceFilter<Value extends string> = Operand<Value, EqualityOperators<Value> & TextOperators>

/** A condition on an integer, float or decimal, and on the numeric `id`. */
export type NumberFilter = Operand<number, ComparisonOperators<number>>

/** A condition on a biginteger; a number beyond 2⁵³ must be a string or bigint. */
export type BigintegerFilter = Operand<string | number | bigint, ComparisonOperators<string | number | bigint>>

/** A condition on a boolean. */
export type BooleanFilter = Operand<boolean, EqualityOperators<boolean>>

/** A condition on a date, datetime or timestamp: ISO 8601 text, a Date, or milliseconds for moments. */
export type DateFilter = Operand<string | Date, ComparisonOperators<string | Date>>

/** A condition on a moment. */
export type MomentFilter = Operand<string | number | Date, ComparisonOperators<string | number | Date>>

/** A condition on a time: `HH:mm:ss.SSS`. */
export type TimeFilter = Operand<string, ComparisonOperators<string>>

/** A condition on json or blocks, which are compared as text. */
export type JsonFilter = Operand<string, EqualityOperators<string> & TextOperators>

/** Conditions on related documents; a number is a row id. A documentId needs `{ documentId: … }`. */
export type LinkFilter<Filters> = Operand<number, EqualityOperators<number>> | (Filters & EqualityOperators<number>)
