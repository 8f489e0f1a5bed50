// The parameters `fields`, `populate` and `sort`, and the checks that make a name compile only if the content-type has it.
import type { ContentShape } from './content-types.js'

/** The type of a place with a name that does not exist: nothing can be assigned to it. */
export interface NoSuchName<Name, Of> {
  readonly noSuchName: Name
  readonly of: Of
}

/** The type of a key that a parameter does not have: nothing can be assigned to it. */
export interface NoSuchParameter<Name> {
  readonly noSuchParameter: Name
}

type Names<Of> = keyof Of & string
/** Any text, without losing the suggestions of literal types in a union. */
export type AnyText = string & {}
type Trimmed<Text extends string> = Text extends ` ${infer Rest}` ? Trimmed<Rest> : Text extends `${infer Rest} ` ? Trimmed<Rest> : Text

/** The entries of a comma list, as a tuple. */
export type CommaList<Text extends string> = Text extends `${infer Head},${infer Tail}`
  ? [Trimmed<Head>, ...CommaList<Tail>]
  : [Trimmed<Text>]

/**
 * `'*'`, a name, a comma list or a list of names of attributes. Texts are checked by `CheckedFields`: as template types they would cost the
 * compiler a hundred times more.
 */
export type FieldsParameter<T extends ContentShape> = '*' | Names<T['fields']> | AnyText | readonly ('*' | Names<T['fields']>)[]

/** A name or dot path, or a comma list of them; checked by `CheckedPopulate`. */
export type PopulateText<T extends ContentShape> = '*' | Names<T['links']> | AnyText

/** `'*'`, names and dot paths, a list of them, or an object with what each attribute shows. */
export type PopulateParameter<T extends ContentShape> = PopulateText<T> | readonly PopulateText<T>[] | PopulateObject<T>

/** By attribute: true, or its parameters. */
export type PopulateObject<T extends ContentShape> = { readonly [Name in keyof T['links']]?: boolean | PopulateLevel<T['links'][Name]> }

/** Parameters of a populated attribute. Names are checked by `CheckedPopulate`, which points at the wrong one. */
type PopulateLevel<Link> = Link extends { readonly link: infer Kind; readonly target: infer Target }
  ? Kind extends 'zone' | 'any'
    ? FragmentsLevel<Target>
    : Target extends ContentShape
      ? ShapeLevel<Target>
      : never
  : never

interface ShapeLevel<T extends ContentShape> {
  readonly fields?: FieldsParameter<T> | readonly AnyText[]
  readonly populate?: PopulateText<T> | readonly PopulateText<T>[] | (PopulateObject<T> & OtherKeys)
  readonly filters?: T['filters'] | object
  readonly sort?: SortParameter<T> | object
  /** True: `{ count: number }` in place of the documents. */
  readonly count?: boolean
  readonly [other: string]: unknown
}

interface OtherKeys {
  readonly [other: string]: unknown
}

interface FragmentsLevel<Target> {
  readonly populate?: '*'
  /** By uid, what entries of this kind show. Entries of other kinds are left out. */
  readonly on?: { readonly [Name in UidsOf<Target>]?: boolean | FragmentLevel<Target, Name> } & OtherKeys
  readonly count?: boolean
  readonly [other: string]: unknown
}

type UidsOf<Target> = Target extends ContentShape ? Target['uid'] : never
type FragmentLevel<Target, Name> =
  Extract<Target, { readonly uid: Name }> extends infer Found ? (Found extends ContentShape ? ShapeLevel<Found> : never) : never

/** The order of a sort key. */
export type SortOrder = 'asc' | 'desc'

/** Attributes that sort keys may cross. */
type Paths<T extends ContentShape> = {
  readonly [Name in keyof T['links'] as T['links'][Name] extends { readonly link: 'relation' | 'component' | 'media' }
    ? Name
    : never]: T['links'][Name]
}

/** `'title'`, `'title:desc'`, `'author.name:asc'`, or a comma list of such keys. `CheckedSort` points at names that do not exist. */
export type SortText<T extends ContentShape> = Names<T['fields']> | AnyText

/** `{ title: 'asc' }`, `{ author: { name: 'desc' } }`. */
export type SortObject<T extends ContentShape> = { readonly [Name in keyof T['fields']]?: SortOrder } & {
  readonly [Name in keyof Paths<T>]?: TargetOf<Paths<T>[Name]> extends infer Target
    ? Target extends ContentShape
      ? SortObject<Target>
      : never
    : never
}

type TargetOf<Link> = Link extends { readonly target: infer Target } ? Target : never

/** A sort key, a list of keys, or objects that say the same. */
export type SortParameter<T extends ContentShape> = SortText<T> | SortObject<T> | readonly (SortText<T> | SortObject<T>)[]

/** `Given` where every name in it exists; at a name that does not, a type that nothing can be assigned to. */
export type CheckedFields<T extends ContentShape, Given> = Given extends string
  ? CheckedNames<CommaList<Given>, Names<T['fields']> | '*', T['uid']>
  : Given extends readonly unknown[]
    ? { [Index in keyof Given]: Given[Index] extends Names<T['fields']> | '*' ? unknown : NoSuchName<Given[Index], T['uid']> }
    : unknown

type CheckedNames<List, Known, Of> = List extends readonly [infer Head, ...infer Tail]
  ? Head extends Known
    ? CheckedNames<Tail, Known, Of>
    : NoSuchName<Head, Of>
  : unknown

/** See `CheckedFields`. */
export type CheckedPopulate<T extends ContentShape, Given> = Given extends string
  ? CheckedPaths<T, CommaList<Given>>
  : Given extends readonly unknown[]
    ? { [Index in keyof Given]: Given[Index] extends string ? CheckedPaths<T, CommaList<Given[Index]>> : unknown }
    : { [Name in keyof Given]: Name extends keyof T['links'] ? CheckedLevel<T['links'][Name], Given[Name]> : NoSuchName<Name, T['uid']> }

type CheckedPaths<T extends ContentShape, List> = List extends readonly [infer Head extends string, ...infer Tail]
  ? PathProblem<T, Head> extends infer Problem
    ? [Problem] extends [never]
      ? CheckedPaths<T, Tail>
      : Problem
    : never
  : unknown

/** The error of a dot path; never if it is valid. Below a dynamic zone one component must have the rest. */
type PathProblem<T, Path extends string> = T extends ContentShape
  ? Path extends `${infer Head}.${infer Rest}`
    ? Head extends keyof T['links']
      ? BelowProblem<T['links'][Head], Rest>
      : NoSuchName<Head, T['uid']>
    : Path extends keyof T['links'] | '*'
      ? never
      : NoSuchName<Path, T['uid']>
  : never

type BelowProblem<Link, Rest extends string> = Link extends { readonly link: infer Kind; readonly target: infer Target }
  ? Kind extends 'zone'
    ? FitsOne<Target, Rest> extends true
      ? never
      : NoSuchName<Rest, UidsOf<Target>>
    : Kind extends 'any'
      ? NoSuchName<Rest, 'a relation to any type: use { on: … }'>
      : PathProblem<Target, Rest>
  : never
type FitsOne<Target, Path extends string> = true extends (
  Target extends ContentShape
    ? [PathProblem<Target, Path>] extends [never]
      ? true
      : false
    : false
)
  ? true
  : false

type CheckedLevel<Link, Given> = Given extends boolean | undefined
  ? unknown
  : Link extends { readonly link: infer Kind; readonly target: infer Target }
    ? Kind extends 'zone' | 'any'
      ? CheckedFragments<Target, Given>
      : Target extends ContentShape
        ? CheckedShape<Target, Given>
        : never
    : never

type CheckedShape<T extends ContentShape, Given> = {
  [Key in keyof Given]: Key extends 'populate'
    ? CheckedPopulate<T, Given[Key]>
    : Key extends 'fields'
      ? CheckedFields<T, Given[Key]>
      : Key extends 'filters'
        ? CheckedKeys<T['filters'], Given[Key], `filters of ${T['uid']}`>
        : Key extends 'sort'
          ? CheckedSort<T, Given[Key]>
          : Key extends 'count'
            ? unknown
            : NoSuchParameter<Key>
}

type CheckedFragments<Target, Given> = {
  [Key in keyof Given]: Key extends 'on'
    ? {
        [Name in keyof Given[Key]]: Extract<Target, { readonly uid: Name }> extends infer Found
          ? [Found] extends [never]
            ? NoSuchName<Name, UidsOf<Target>>
            : Given[Key][Name] extends boolean | undefined
              ? unknown
              : Found extends ContentShape
                ? CheckedShape<Found, Given[Key][Name]>
                : never
          : never
      }
    : Key extends 'populate' | 'count'
      ? unknown
      : NoSuchParameter<Key>
}

/** See `CheckedFields`. */
export type CheckedSort<T extends ContentShape, Given> = Given extends string
  ? CheckedSortKeys<T, CommaList<Given>>
  : Given extends readonly unknown[]
    ? { [Index in keyof Given]: CheckedSort<T, Given[Index]> }
    : {
        [Name in keyof Given]: Name extends keyof T['fields']
          ? Given[Name] extends SortOrder
            ? unknown
            : NoSuchName<Given[Name], SortOrder>
          : Name extends keyof Paths<T>
            ? TargetOf<Paths<T>[Name]> extends infer Target
              ? Target extends ContentShape
                ? CheckedSort<Target, Given[Name]>
                : never
              : never
            : NoSuchName<Name, T['uid']>
      }

type CheckedSortKeys<T extends ContentShape, List> = List extends readonly [infer Head extends string, ...infer Tail]
  ? SortProblem<T, Head> extends infer Problem
    ? [Problem] extends [never]
      ? CheckedSortKeys<T, Tail>
      : Problem
    : never
  : unknown

type SortProblem<T, Key extends string> = Key extends `${infer Path}:${infer Given}`
  ? Trimmed<Given> extends SortOrder
    ? SortPathProblem<T, Path>
    : NoSuchName<Given, SortOrder>
  : SortPathProblem<T, Key>
type SortPathProblem<T, Path extends string> = T extends ContentShape
  ? Path extends `${infer Head}.${infer Rest}`
    ? Head extends keyof Paths<T>
      ? SortPathProblem<TargetOf<Paths<T>[Head]>, Rest>
      : NoSuchName<Head, T['uid']>
    : Path extends keyof T['fields']
      ? never
      : NoSuchName<Path, T['uid']>
  : never

type Value = string | number | boolean | bigint | Date | null | undefined
type ObjectKeys<Known> = Known extends Value | readonly unknown[] ? never : keyof Known
type ObjectMember<Known, Key> = Known extends Value | readonly unknown[] ? never : Key extends keyof Known ? Known[Key] : never
type ElementOf<Known> = Known extends readonly (infer Element)[] ? Element : never

/** The keys of `Given`, at every depth, must be those of `Known`, and the values of its values. */
export type CheckedKeys<Known, Given, Of> = Given extends Value
  ? Given extends Known
    ? unknown
    : Extract<Known, Value>
  : Given extends readonly unknown[]
    ? { [Index in keyof Given]: CheckedKeys<ElementOf<Known>, Given[Index], Of> }
    : { [Key in keyof Given]: Key extends ObjectKeys<Known> ? CheckedKeys<ObjectMember<Known, Key>, Given[Key], Of> : NoSuchName<Key, Of> }
