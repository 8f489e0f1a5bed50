// Filters through relations by a name that no document has: an empty list, without an error.
import type { ContentType } from '../../model/schema/types.js'
import type { Hint, ServedRequest } from './exchange.js'
import { conditionsOf, type FilterCondition } from './filter-values.js'
import { quoted, similar, withArticle } from './sentences.js'
import { nameOf } from './shapes.js'

/** Names that are looked up for one response, and names of others that are compared with each. */
const [mostLookups, mostCompared] = [3, 100]
const texts = /^(?:string|text|uid|email)$/

/** Names of related documents that do not exist in this spelling. */
export const unmatchedValue: Hint = async ({ model, type, parameters, status, asked, method }) => {
  if (type === null || asked === null || status !== 200 || method !== 'GET') return null
  const names = [...conditionsOf(model, type, parameters.filters, 'filters')].filter((condition) => isName(condition, type))
  for (const condition of names.slice(0, mostLookups)) {
    const found = await explainName(condition, condition.shape as ContentType, asked)
    if (found !== null) return found
  }
  return null
}

const isName = ({ shape, attribute, operator, value, isRelation }: FilterCondition, type: ContentType): boolean =>
  shape !== type &&
  shape.kind === 'contentType' &&
  !isRelation &&
  operator === '$eq' &&
  typeof value === 'string' &&
  texts.test(attribute.type)

async function explainName({ attribute, value }: FilterCondition, type: ContentType, { documents }: ServedRequest): Promise<string | null> {
  const { name } = attribute
  const find = async (condition: string, limit: number): Promise<readonly string[]> => {
    const query = `${condition}&fields=${name}&limit=${limit}&locale=*${type.draftAndPublish ? '&status=draft' : ''}`
    const rows = await documents.findAsService({ type, mode: 'many', paged: false, query, envelope: 'bare' })
    return (rows as readonly Readonly<Record<string, unknown>>[]).map((row) => String(row[name]))
  }
  const text = encodeURIComponent(String(value))
  if ((await find(`filters[${name}][$eq]=${text}`, 1)).length > 0) return null
  const start = `No ${nameOf(type)} has the ${name} ${quoted(value)}.`
  const [otherCase] = await find(`filters[${name}][$eqi]=${text}`, 1)
  if (otherCase !== undefined) return `${start} There is ${withArticle(nameOf(type))} ${quoted(otherCase)}: $eqi ignores case.`
  const close = similar(String(value), await find(`sort=${name}`, mostCompared))
  return close === null ? start : `${start} Did you mean ${quoted(close)}?`
}
