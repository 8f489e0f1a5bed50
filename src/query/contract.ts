// The one switch, `api.rest.contract`: the seventeen points where the specification and Strapi differ, as data.
// Every row has its number in the table of docs/differences.md; code uses the rows, never the contract's name.

export type ContractName = 'specification' | 'strapi'

export interface Contract {
  readonly name: ContractName
  /** 1: entries of components and zones carry a stable documentId. */
  readonly componentDocumentIds: boolean
  /** 2, 3, 4, 6: relation syntax in bodies is held to the letter. */
  readonly strictRelationSyntax: boolean
  /** 5: media attributes can be filtered. */
  readonly mediaFilters: boolean
  /** 7: `like`: SQLite's LIKE, ASCII case ignored. `exact`: case-sensitive, and the i-forms fold all of Unicode. */
  readonly textMatching: 'like' | 'exact'
  /** Nulls sort as the smallest values; otherwise as the database sorts them. */
  readonly nullsFirst: boolean
  /** 8: a status other than published and draft means draft; refused otherwise. */
  readonly lenientStatus: boolean
  /** 9: timestamp attributes are returned as a string of milliseconds; as ISO 8601 otherwise. */
  readonly timestampsAsMilliseconds: boolean
  /**
   * 10: deep filters look at every version of the target; otherwise at the version that the request selects. Targets populated
   * below types without locales are in every locale, or in the request's; below users, in every version.
   */
  readonly deepFiltersSeeAllVersions: boolean
  /** 11: writes may name a locale that the installation does not know. */
  readonly unknownLocalesOnWrites: boolean
  /** 12: uid attributes with a targetField are generated when they are absent. */
  readonly generateUids: boolean
  /** 13: values that are not `blocks`, such as a plain text, are stored as null; refused otherwise. */
  readonly unreadableBlocksAreNull: boolean
  /** 14: non-localized attributes are equal in all locales after every write, in drafts and in published versions; otherwise as Strapi copies them. */
  readonly localesShareAlways: boolean
  /** 15: a condition on a boolean takes true, false and their short forms; otherwise every value but those of false is true. */
  readonly strictBooleans: boolean
  /** 16: null empties repeatable components and zones; refused otherwise. */
  readonly nullEmptiesLists: boolean
  /** 17: `$not` around a condition on a to-many relation finds documents without a matching target; otherwise one non-matching target is enough. */
  readonly notMeansNone: boolean
}

export const contracts: Readonly<Record<ContractName, Contract>> = {
  specification: {
    name: 'specification',
    componentDocumentIds: true,
    strictRelationSyntax: true,
    mediaFilters: false,
    textMatching: 'exact',
    nullsFirst: true,
    lenientStatus: false,
    timestampsAsMilliseconds: false,
    deepFiltersSeeAllVersions: false,
    unknownLocalesOnWrites: false,
    generateUids: true,
    unreadableBlocksAreNull: false,
    strictBooleans: true,
    nullEmptiesLists: true,
    notMeansNone: true,
    localesShareAlways: true,
  },
  strapi: {
    name: 'strapi',
    componentDocumentIds: false,
    strictRelationSyntax: false,
    mediaFilters: true,
    textMatching: 'like',
    nullsFirst: false,
    lenientStatus: true,
    timestampsAsMilliseconds: true,
    deepFiltersSeeAllVersions: true,
    unknownLocalesOnWrites: true,
    generateUids: false,
    unreadableBlocksAreNull: true,
    strictBooleans: false,
    nullEmptiesLists: false,
    notMeansNone: false,
    localesShareAlways: false,
  },
}
