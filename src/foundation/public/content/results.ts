// Results of reads: the attributes selected by `fields` and `populate`, level by level.
import type { ContentShape, ContentTypeShape, ShapeOf } from './content-types.js'
import type { CommaList } from './selection.js'

/** The publication state of a result; `any` where it depends on the row. */
export type VersionState = 'published' | 'draft' | 'any'

/** Attributes that drafts have as well. */
type Constant = 'id' | 'documentId' | 'createdAt' | 'updatedAt' | 'locale'

/** The attributes of a version that may be a draft: nothing is required there. */
type LooseFields<Fields, Own> = {
  [Name in keyof Fields]: Name extends Constant
    ? Fields[Name]
    : Name extends 'publishedAt'
      ? [Own] extends ['draft']
        ? null
        : Fields[Name] | null
      : Fields[Name] | null
}

/** `Own`: the state of the version itself, or of the document that a component belongs to. */
type FieldsIn<T extends ContentShape, Own> = [Own] extends ['published'] ? T['fields'] : LooseFields<T['fields'], Own>

/** Types without Draft & Publish have one version, which is complete. */
type OwnState<T, Asked> = T extends { readonly drafts: true } ? Asked : 'published'

/** One object type instead of an intersection. */
type Flat<T> = { [Key in keyof T]: T[Key] } & {}
type OptionOf<Given, Name extends string> = Name extends keyof Given ? Given[Name] : undefined

type SelectedNames<Selected> = Selected extends string
  ? CommaList<Selected>[number]
  : Selected extends readonly (infer Name)[]
    ? Name extends string
      ? CommaList<Name>[number]
      : never
    : never

/** True for a list or text whose contents are not known to the compiler. */
type IsWide<Given> = Given extends string
  ? string extends Given
    ? true
    : false
  : Given extends readonly unknown[]
    ? number extends Given['length']
      ? true
      : false
    : false

type SelectedFields<Fields, Selected> = [Selected] extends [undefined]
  ? Fields
  : '*' extends SelectedNames<Selected>
    ? Fields
    : true extends IsWide<Selected>
      ? Pick<Fields, Extract<'id' | 'documentId', keyof Fields>> & Partial<Fields>
      : Pick<Fields, Extract<SelectedNames<Selected> | 'id' | 'documentId', keyof Fields>>

/** The entries of a `populate` of texts, as one tuple of dot paths. */
type PathsOf<Given> = Given extends string
  ? CommaList<Given>
  : Given extends readonly [infer Head, ...infer Tail]
    ? [...(Head extends string ? CommaList<Head> : []), ...PathsOf<Tail>]
    : []
type FirstStep<Path> = Path extends `${infer Head}.${string}` ? Head : Path

/** The entries of a list below `Name`: an entry that is the plain name replaces earlier entries below it. */
type Below<List, Name, Found extends readonly string[] = []> = List extends readonly [infer Head, ...infer Tail]
  ? Head extends Name
    ? Below<Tail, Name>
    : Head extends `${Name & string}.${infer Rest}`
      ? Below<Tail, Name, [...Found, Rest]>
      : Below<Tail, Name, Found>
  : Found

/** Paths as an object of levels. */
type LevelsOf<List extends readonly unknown[]> = {
  [Name in FirstStep<List[number]> & string]: Below<List, Name> extends infer Rest
    ? Rest extends readonly []
      ? true
      : { populate: Rest }
    : never
}

type Everything<T extends ContentShape> = { [Name in keyof T['links']]: true }

type PopulatedBy<T extends ContentShape, Asked, Own, Given> = [Given] extends [undefined]
  ? unknown
  : true extends IsWide<Given>
    ? Partial<PopulatedLinks<T, Asked, Own, Everything<T>>>
    : Given extends '*' | readonly ['*']
      ? PopulatedLinks<T, Asked, Own, Everything<T>>
      : Given extends string | readonly unknown[]
        ? PopulatedLinks<T, Asked, Own, LevelsOf<PathsOf<Given>>>
        : PopulatedLinks<T, Asked, Own, Given>

/** A switch that the compiler does not know makes its attribute optional. */
type PopulatedLinks<T extends ContentShape, Asked, Own, Levels> = {
  [Name in keyof Levels & keyof T['links'] as Levels[Name] extends false | undefined
    ? never
    : boolean extends Levels[Name]
      ? never
      : Name]: Linked<T['links'][Name], Asked, Own, Levels[Name]>
} & {
  [Name in keyof Levels & keyof T['links'] as boolean extends Levels[Name] ? Name : never]?: Linked<T['links'][Name], Asked, Own, true>
}

type Linked<Link, Asked, Own, Level> = Link extends { readonly link: infer Kind; readonly many: infer Many; readonly target: infer Target }
  ? Kind extends 'zone'
    ? ZoneEntry<Target, Asked, Own, Level>[]
    : Kind extends 'media'
      ? OneOrMany<Many, Row<Target, Asked, 'published', Level>>
      : Level extends { readonly count: true }
        ? { count: number }
        : Kind extends 'relation'
          ? OneOrMany<Many, Row<Target, Asked, OwnState<Target, Asked>, Level>>
          : Kind extends 'any'
            ? OneOrMany<Many, AnyEntry<Target, Level>>
            : Many extends true
              ? Row<Target, Asked, Own, Level>[]
              : Row<Target, Asked, Own, Level> | (IsAlwaysThere<Link, Own, Level> extends true ? never : null)
  : never

type OneOrMany<Many, Entry> = Many extends true ? Entry[] : Entry | null

type IsAlwaysThere<Link, Own, Level> = Link extends { readonly required: true }
  ? [Own] extends ['published']
    ? Level extends { readonly filters: unknown }
      ? false
      : true
    : false
  : false

/** An entry of a dynamic zone. With `on`, components that are not listed are left out. */
type ZoneEntry<Target, Asked, Own, Level> = Target extends ContentShape
  ? Level extends { readonly on: infer On }
    ? Target['uid'] extends keyof On
      ? Flat<{ __component: Target['uid'] } & Row<Target, Asked, Own, On[Target['uid']]>>
      : never
    : Flat<{ __component: Target['uid'] } & Row<Target, Asked, Own, Level>>
  : never

/** The target of a polymorphic relation, in the version that was linked. */
type AnyEntry<Target, Level> = Target extends ContentShape
  ? Level extends { readonly on: infer On }
    ? Target['uid'] extends keyof On
      ? Flat<{ __type: Target['uid'] } & Row<Target, 'any', OwnState<Target, 'any'>, On[Target['uid']]>>
      : never
    : Flat<{ __type: Target['uid'] } & Row<Target, 'any', OwnState<Target, 'any'>, Level>>
  : never

type Row<Target, Asked, Own, Level> = Target extends ContentShape
  ? RowOf<Target, Asked, Own, OptionOf<Level, 'fields'>, OptionOf<Level, 'populate'>>
  : never

type RowOf<T extends ContentShape, Asked, Own, Selected, Given> = [Selected, Given] extends [undefined, undefined]
  ? FieldsIn<T, Own>
  : Flat<SelectedFields<FieldsIn<T, Own>, Selected> & PopulatedBy<T, Asked, Own, Given>>

/** A document of the shape `T` as a read with these parameters returns it. */
export type RowIn<T extends ContentShape, Asked, Selected, Given> = RowOf<T, Asked, OwnState<T, Asked>, Selected, Given>

type Or<Given, Default> = [Given] extends [undefined] ? Default : Given

/** The same over the API, where the project's defaults of the type take the place of parameters that are absent. */
export type ApiRow<T extends ContentTypeShape, Asked, Selected, Given> = RowIn<
  T,
  Or<Or<Asked, OptionOf<T['defaults'], 'status'>>, 'published'>,
  Or<Selected, OptionOf<T['defaults'], 'fields'>>,
  Or<Given, OptionOf<T['defaults'], 'populate'>>
>

/**
 * A document as a query of the API returns it, to name it in code:
 * `Result<'api::article.article', { populate: ['author'], fields: ['title'] }>`, or `Result<ArticleType, typeof query>`.
 */
export type Result<Type, Query = object> =
  ShapeOf<Type> extends infer T
    ? T extends ContentTypeShape
      ? ApiRow<T, OptionOf<Query, 'status'>, OptionOf<Query, 'fields'>, OptionOf<Query, 'populate'>>
      : never
    : never
