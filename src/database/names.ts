// Which names a database gives to tables and columns.

/** What a database says about names. */
export interface DatabaseNames {
  /** Whether names of tables may differ in the case of letters only. */
  readonly tellCaseApart: boolean
  /** Whether it has the name of a table for itself. */
  isOwnTable(name: string): boolean
  /** Names of columns that each table of it has for itself. */
  readonly ownColumns: ReadonlySet<string>
}

/** The names of each database. */
export const namesOf = {
  sqlite: { tellCaseApart: false, isOwnTable: (name) => /^sqlite_/i.test(name), ownColumns: new Set() },
  postgres: {
    tellCaseApart: true,
    // Its catalog has names too, which differ between versions: `catalogNames` of postgres/catalog.ts.
    isOwnTable: () => false,
    ownColumns: new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']),
  },
  // Constraints have the names of their tables, and are not told apart.
  mysql: { tellCaseApart: false, isOwnTable: () => false, ownColumns: new Set() },
} as const satisfies Readonly<Record<string, DatabaseNames>>
