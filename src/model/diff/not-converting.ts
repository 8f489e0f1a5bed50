// Which stored values do not convert to another attribute type, as conditions in words of every database.
import { type Conversion, isNarrowed, isShortening, kindOf } from './conversions.js'
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'

/** A text without its digits: what is left is the same for all numbers of one form. */
const withoutDigits = (text: SqlText): SqlText => [...'0123456789'].reduce((left, digit) => sqlText`replace(${left}, ${digit}, '')`, text)

/** A part of a text that starts at a place. */
const part = (text: SqlText, from: number, length: number): SqlText => sqlText`substr(${text}, ${from}, ${length})`

/** Texts that are no day of the calendar; 29 February counts, whatever the year. */
function notADay(text: SqlText): SqlText {
  const [month, day] = [part(text, 6, 2), part(text, 9, 2)]
  return joinedText(
    [
      sqlText`${withoutDigits(part(text, 1, 10))} <> '--'`,
      sqlText`${part(text, 1, 10)} not like '____-__-__'`,
      sqlText`${month} not between '01' and '12'`,
      sqlText`${day} not between '01' and '31'`,
      sqlText`(${day} = '31' and ${month} in ('02', '04', '06', '09', '11'))`,
      sqlText`(${month} = '02' and ${day} > '28')`,
    ],
    ' or ',
  )
}

/** Texts that have no time of day from a place on. */
const notATime = (text: SqlText, from: number): SqlText =>
  joinedText(
    [
      sqlText`${withoutDigits(part(text, from, 8))} <> '::'`,
      sqlText`${part(text, from, 8)} not like '__:__:__'`,
      sqlText`${part(text, from, 2)} > '23'`,
      sqlText`${part(text, from + 3, 2)} > '59'`,
      sqlText`${part(text, from + 6, 2)} > '59'`,
    ],
    ' or ',
  )

/** Texts that are surely or perhaps not written as a date, a time or a moment. */
const notWrittenAs = {
  date: (text: SqlText) => sqlText`${notADay(text)} or ${part(text, 11, 1)} <> ''`,
  time: (text: SqlText) => {
    const rest = part(text, 9, 100)
    return sqlText`${notATime(text, 1)} or not (${rest} = '' or (${withoutDigits(rest)} = '.' and ${rest} like '._%' and ${part(text, 13, 1)} = ''))`
  },
  datetime: (text: SqlText) => {
    const rest = part(text, 20, 100)
    const isRest = sqlText`${rest} = 'Z' or (${withoutDigits(rest)} = '.Z' and ${rest} like '._%Z' and ${part(text, 25, 1)} = '')`
    const isMoment = sqlText`${part(text, 11, 1)} = 'T' and not (${notATime(text, 12)}) and (${isRest})`
    return sqlText`${notADay(text)} or not (${part(text, 11, 1)} = '' or (${isMoment}))`
  },
} as const

/**
 * Says which values of a column do not convert, as a condition; null: none. `exact` is false where a database cannot tell all of them
 * from those that do, and the condition covers more.
 */
export function notConverting(conversion: Conversion, column: string): { readonly where: SqlText; readonly exact: boolean } | null {
  const { from, to, rule } = conversion
  const value = sqlText`trim(cast(${id(column)} as text))`
  const present = sqlText`${id(column)} is not null`
  const digits = withoutDigits(value)
  if (isShortening(conversion) || conversion.within !== undefined) return { where: present, exact: false }
  switch (rule) {
    case 'none':
      return { where: present, exact: true }
    case 'integer':
    case 'biginteger':
      return kindOf(from) === 'boolean'
        ? null
        : {
            where: sqlText`${present} and (${digits} not in ('', '-') or ${value} in ('', '-') or (${digits} = '-' and ${value} not like '-%') or substr(${value}, ${rule === 'integer' ? 10 : 19}, 1) <> '')`,
            exact: false,
          }
    case 'decimal':
      return null
    case 'number':
      return kindOf(from) === 'boolean' || kindOf(from) === 'decimal'
        ? null
        : {
            where: sqlText`${present} and (${digits} not in ('', '-', '.', '-.') or ${value} in ('', '-', '.', '-.') or ${value} like '.%' or ${value} like '-.%' or ${value} like '%.' or (${digits} in ('-', '-.') and ${value} not like '-%') or substr(${value}, 16, 1) <> '')`,
            exact: false,
          }
    case 'boolean':
      return { where: sqlText`${present} and lower(${value}) not in ('0', '1', 'true', 'false')`, exact: true }
    case 'date':
    case 'time':
    case 'datetime':
      return kindOf(from) === 'text' ? { where: sqlText`${present} and (${notWrittenAs[rule](value)})`, exact: false } : null
    case 'same':
    case 'text':
    case 'json':
    case 'blocks':
      return isNarrowed(from, to) ? { where: sqlText`substr(cast(${id(column)} as text), 256, 1) <> ''`, exact: true } : null
  }
}
