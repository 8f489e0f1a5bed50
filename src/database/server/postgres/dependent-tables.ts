// The tables whose rows the server changes along with those of others: by foreign keys, and by what others have added to the database.
import { type DependentTables, dependentsBy } from '../../cache/table-changes.js'
import type { AskServer } from './connection.js'

/** What the catalog says; read again once anything of unknown extent was committed. */
export interface Dependents {
  /** For `openTableChanges`. */
  known(): DependentTables
  /** False where tables have rows of another server, whose commits nobody notices here. */
  isKnowable(): boolean
  /** Reads the catalog, unless it was read since `forget`. */
  load(): Promise<void>
  forget(): void
}

/** The schemas in which names of tables are looked up; temporary tables of other sessions are in none of them. */
const isOurs = 'n.nspname = any (current_schemas(false))'
/** Where a change of our rows leads to by foreign keys. */
const isReferring = "exists (select from pg_constraint c where c.conrelid = r.oid and c.contype = 'f')"
const ofExtension = (catalog: string, oid: string): string =>
  `exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

/** Foreign keys as pairs of tables, and whether there are triggers, rules or views, which may do anything; and tables of other servers. */
const catalog = `select
  (select cast(coalesce(json_agg(distinct jsonb_build_array(above.relname, below.relname)), '[]') as text)
    from pg_constraint c join pg_class above on above.oid = c.confrelid join pg_class below on below.oid = c.conrelid where c.contype = 'f'),
  (exists (select from pg_trigger t join pg_class r on r.oid = t.tgrelid join pg_namespace n on n.oid = r.relnamespace
      where not t.tgisinternal and (${isOurs} or ${isReferring}) and not ${ofExtension('pg_class', 'r.oid')})
    or exists (select from pg_rewrite w join pg_class r on r.oid = w.ev_class join pg_namespace n on n.oid = r.relnamespace
      where (${isOurs} or (r.relkind <> 'v' and ${isReferring})) and not ${ofExtension('pg_class', 'r.oid')}))::int,
  (exists (select from pg_class r join pg_namespace n on n.oid = r.relnamespace where r.relkind = 'f' and ${isOurs}))::int`

/** Begins with nothing known. */
export function openDependents(ask: AskServer): Dependents {
  let isLoaded = false
  let known: DependentTables = null
  let isKnowable = false
  return {
    known: () => known,
    isKnowable: () => isKnowable,
    load: async () => {
      if (isLoaded) return
      const [row] = await ask(catalog, [])
      const [keys, isChangedElsewhere, hasForeignTables] = row as [string, number, number]
      known = isChangedElsewhere === 1 ? null : dependentsBy(JSON.parse(keys))
      isKnowable = hasForeignTables === 0
      isLoaded = true
    },
    forget: () => {
      isLoaded = false
      known = null
    },
  }
}
