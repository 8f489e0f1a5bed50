// Whether a draft may be published: the whole document is held to every rule, with the recorded errors.
import type { Transaction } from '../database/database.js'
import { everything } from '../grants.js'
import type { Component, ContentType, Scalar } from '../model/types.js'
import type { Populated, ReadRequest, Selection } from '../query/request.js'
import type { InputContext } from './input.js'
import { readInput, validateDocument } from './input.js'
import type { Plans } from './plans.js'

/** What was just given: all that a new document has, part of what a draft has and the published row lacks, or less than that. */
export type Given = 'new' | 'part' | 'whole'

/**
 * Checks the draft row `id` before it is published. What was just given is held to the strict rules first; only when that
 * fails, or when the draft holds more than that, the whole stored document is read and validated.
 * @throws ApiError 400
 */
export async function checkPublishable(
  context: InputContext,
  plans: Plans,
  transaction: Transaction,
  type: ContentType,
  data: unknown,
  id: number,
  given: Given,
): Promise<void> {
  if (given !== 'whole' && passes(context, type, data, given === 'new')) return
  const request = wholeDocument(context, type, id)
  const answer = await transaction.read(plans.of(request, 'bare').plan, request.values)
  if (answer === null) return
  const document = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as Record<string, unknown>
  answer.release()
  validateDocument(context, type, document)
}

function passes(context: InputContext, type: ContentType, data: unknown, isCreation: boolean): boolean {
  try {
    readInput(context, type, data, { grants: everything, isDraft: false, isCreation })
    return true
  } catch {
    return false
  }
}

/** A read of one row with all its values and everything it contains. */
function wholeDocument(context: InputContext, type: ContentType, id: number): ReadRequest {
  return {
    type,
    mode: 'first',
    status: 'draft',
    locale: { kind: 'any' },
    targetLocale: null,
    filter: { kind: 'compare', attribute: type.attributes.get('id') as Scalar, operator: '$eq', values: [2] },
    publication: [],
    sort: [],
    page: { style: 'offset', start: 0, limit: 1, withCount: false },
    selection: wholeSelection(context, type),
    format: 'flat',
    identityAt: -1,
    values: [0, 1, id],
  }
}

function wholeSelection(context: InputContext, shape: ContentType | Component): Selection {
  const { model } = context
  const attributes = [...shape.attributes.values()]
  const populate = attributes.flatMap((attribute): Populated[] => {
    if (attribute.kind === 'component') {
      return [
        { kind: 'component', attribute, filter: null, sort: [], of: wholeSelection(context, model.components.get(attribute.component)!) },
      ]
    }
    if (attribute.kind === 'dynamiczone') {
      return [{ kind: 'zone', attribute, on: attribute.components.map((uid) => wholeSelection(context, model.components.get(uid)!)) }]
    }
    return []
  })
  // A password leaves the database as the text it is stored as: only here, to see that there is one.
  const fields = attributes
    .filter((attribute) => attribute.kind === 'scalar')
    .map((scalar): Scalar => ({ ...scalar, type: scalar.type === 'password' ? 'string' : scalar.type }))
  return { shape, fields, populate }
}
