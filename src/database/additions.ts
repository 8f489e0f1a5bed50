// What Octavo has added to a database beside Strapi's layout, and its removal.

/** Tables whose rows are permissions, with an `action`. */
export const permissionTables = ['up_permissions', 'strapi_api_token_permissions'] as const

/** What is there. */
export interface Additions {
  /** Tables of ours, with their numbers of rows. */
  readonly tables: ReadonlyMap<string, number>
  /** Indexes of ours on Strapi's tables. */
  readonly indexes: readonly string[]
  /** Permissions for actions that only Octavo has. */
  readonly permissions: number
  /** Anything else, as the end of `Removed: …`: `the statistics of indexes`. */
  readonly others: readonly string[]
}

/** A database that Octavo leaves. */
export interface Leaving {
  /** Looks what is there. */
  find(): Promise<Additions>
  /**
   * Removes it; all at once where the database can do that. `report` receives the name of each table and index.
   * @throws ConfigError if the database is in use
   */
  remove(report: (name: string) => void): Promise<void>
  close(): Promise<void>
}
