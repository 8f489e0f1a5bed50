// Links to versions of documents that go lead to the versions that stay.
import { id, type SqlText, sqlText } from './sql-text.js'
import type { StepAction } from './steps.js'

/** A table of links and its columns. */
interface Links {
  readonly table: string
  readonly owner: string
  readonly target: string
}

/** Which rows go, and what stays of their documents. */
interface Inheritance {
  /** A table, or a select in parentheses. */
  readonly gone: SqlText
  /** Which of them, as a condition on `gone` and `link`. */
  readonly isGone: SqlText
  /** Joins `heir`, the version that stays, to `gone`. */
  readonly heir: SqlText
}

/** Sets the targets of links to the heirs of these, unless such a link is there already. */
export function linksToHeirs({ table, owner, target }: Links, { gone, isGone, heir }: Inheritance): StepAction {
  const [links, own, column] = [id(table), id(owner), id(target)]
  const already = sqlText`exists (select 1 from ${links} as present where present.${own} = link.${own} and present.${column} = heir.id)`
  const passed = sqlText`select min(link.id) as id from ${links} as link join ${gone} as gone on gone.id = link.${column} ${heir}
        where ${isGone} and not ${already} group by link.${own}, heir.id`
  return {
    kind: 'setValues',
    table,
    column: target,
    value: sqlText`(select min(heir.id) from ${gone} as gone ${heir} where gone.id = ${links}.${column})`,
    where: sqlText`id in (select id from (${passed}) as passed)`,
  }
}
