// Statements as plain data in portable SQL (decision 038): text around bound values, quoted names.
import { type RawBuilder, sql } from 'kysely'
import { quoted } from '../tables/table.js'

/** A statement or a part of one: `values[i]` is bound between `text[i]` and `text[i + 1]`. */
export interface SqlText {
  readonly text: readonly string[]
  readonly values: readonly (string | number)[]
}

/** The text as an expression that the dialect of any database compiles. */
export const toExpression = ({ text, values }: SqlText): RawBuilder<unknown> =>
  sql(Object.assign([...text], { raw: [...text] }) as TemplateStringsArray, ...values)

/** A name of a table or column in a template. */
interface SqlName {
  readonly name: string
}

/** A table or column for a template. */
export const id = (name: string): SqlName => ({ name })

/** Reads a template: names are quoted, parts are inserted, everything else is bound. */
export function sqlText(texts: TemplateStringsArray, ...parts: readonly (SqlName | SqlText | string | number)[]): SqlText {
  const text: string[] = [texts[0]!]
  const values: (string | number)[] = []
  const append = (more: string) => void text.push(text.pop()! + more)
  parts.forEach((part, index) => {
    if (typeof part !== 'object') {
      values.push(part)
      text.push('')
    } else if ('name' in part) append(quoted(part.name))
    else {
      append(part.text[0]!)
      text.push(...part.text.slice(1))
      values.push(...part.values)
    }
    append(texts[index + 1]!)
  })
  return { text, values }
}

/** Parts with a separator between them. */
export function joinedText(parts: readonly SqlText[], separator: ' or ' | ' and ' | ', '): SqlText {
  const [first = sqlText``, ...others] = parts
  return others.reduce((joined, part) => {
    const between = { text: [separator], values: [] }
    return sqlText`${joined}${between}${part}`
  }, first)
}

/** Values for `in (…)`. */
export const listText = (values: readonly (string | number)[]): SqlText =>
  joinedText(
    values.map((value) => sqlText`${value}`),
    ', ',
  )

/** Counts the rows of a table, or those that satisfy `where`. */
export const countText = (table: string, where: SqlText | null): SqlText =>
  where === null ? sqlText`select count(*) as count from ${id(table)}` : sqlText`select count(*) as count from ${id(table)} where ${where}`

/** The default locale as this database has it. */
export const defaultLocale: SqlText = sqlText`(select replace(${id('value')}, '"', '') from ${id('strapi_core_store_settings')} where ${id('key')} = ${'plugin_i18n_default_locale'})`
