// Which names a database gives to tables and columns.

/** What a database says about names. */
export interface DatabaseNames {
  /** Whether names of tables may differ in the case of letters only. */
  readonly tellCaseApart: boolean
  /** Names of tables that it has for itself. */
  readonly ownTables: RegExp
  /** Names of columns that each table of it has for itself. */
  readonly ownColumns: ReadonlySet<string>
}

/** The names of each database. */
export const namesOf = {
  sqlite: { tellCaseApart: false, ownTables: /^sqlite_/i, ownColumns: new Set() },
  postgres: {
    tellCaseApart: true,
    ownTables: /^pg_/,
    ownColumns: new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']),
  },
  // Constraints have the names of their tables, and are not told apart.
  mysql: { tellCaseApart: false, ownTables: /^$/, ownColumns: new Set() },
} as const satisfies Readonly<Record<string, DatabaseNames>>
