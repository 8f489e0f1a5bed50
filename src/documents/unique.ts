// Unique attributes: no other document of the type has the value, in the same locale and the same publication state.
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import type { ContentType, Scalar } from '../model/types.js'
import type { AttributeError, Input } from './input.js'
import type { Stored } from './rows.js'

/** What is looked for: the values of one version of a document. */
export interface Claimed {
  readonly document: string
  readonly locale: string | null
  readonly state: 'published' | 'any'
  readonly values: ReadonlyMap<Scalar, { readonly stored: Stored; readonly given: unknown }>
}

/** The unique values that a body gives. */
export const givenValues = (input: Input): Claimed['values'] =>
  new Map(
    [...input.scalars]
      .filter(([scalar]) => scalar.unique)
      .map(([scalar, stored]) => [scalar, { stored, given: input.checked[scalar.name] ?? stored }]),
  )

/** The unique values that a row has. */
export async function uniqueValues(transaction: Transaction, type: ContentType, id: number): Promise<Claimed['values']> {
  const scalars = [...type.attributes.values()].filter((attribute): attribute is Scalar => attribute.kind === 'scalar' && attribute.unique)
  if (scalars.length === 0) return new Map()
  const columns = sql.join(scalars.map(({ column }) => sql.id(column)))
  const [row] = await transaction.rows<Record<string, Stored>>(sql`select ${columns} from ${sql.table(type.table)} where id = ${id}`)
  return new Map(scalars.map((scalar) => [scalar, { stored: row![scalar.column]!, given: row![scalar.column] }]))
}

/** The values that another document has already. Nothing and the empty text never collide. */
export async function takenValues(transaction: Transaction, type: ContentType, claimed: Claimed): Promise<readonly AttributeError[]> {
  const looked = [...claimed.values].map(async ([scalar, { stored, given }]): Promise<readonly AttributeError[]> => {
    if (!scalar.unique || stored === null || stored === '') return []
    const locale = type.localized ? sql` and locale = ${claimed.locale}` : sql``
    const state = claimed.state === 'published' ? sql` and published_at is not null` : sql``
    const others = await transaction.rows(
      sql`select id from ${sql.table(type.table)} where ${sql.id(scalar.column)} = ${stored} and document_id <> ${claimed.document}${locale}${state} limit 1`,
    )
    return others.length === 0 ? [] : [{ path: [scalar.name], message: 'This attribute must be unique', value: given }]
  })
  return (await Promise.all(looked)).flat()
}
