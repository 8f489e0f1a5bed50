// A plan for readers: the SQL of its steps, affected rows, access to new attributes, and possible renames.
import { sql } from 'kysely'
import type { Database, RowReader } from '../../database/database.js'
import { mayContain } from '../../model/diff/entries.js'
import { possibleRenames } from '../../model/diff/possible-renames.js'
import { countText, toExpression } from '../../model/diff/sql-text.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { ModelChange, Rename } from '../../model/diff/types.js'
import type { Model, Schema } from '../../model/schema/types.js'
import type { CountedPlan } from './counted-plan.js'

/** A step with its SQL in the database's dialect, with values inlined; computations of the service are comments. */
type DescribedStep = PlanStep & {
  readonly sql: readonly string[]
  /** Number of affected rows; null for a change of definitions. */
  readonly rows: number | null
}

/** Callers with access to new attributes through their access to the type. Full access and super administrators are not listed. */
export interface Gain {
  /** The uid of the content-type. */
  readonly schema: string
  /** The path of the new attribute through components; null: the type itself is new. */
  readonly attribute: string | null
  /** Roles of the content API, and API tokens, that read or write it. */
  readonly roles: readonly string[]
  readonly tokens: readonly string[]
  /** Roles of administrators whose permissions name no fields. */
  readonly administrators: readonly string[]
}

export interface DescribedPlan extends Omit<CountedPlan, 'steps'> {
  readonly steps: readonly DescribedStep[]
  readonly gains: readonly Gain[]
  /** Possible renames that would preserve content hidden by the plan. */
  readonly possibleRenames: readonly Rename[]
}

export async function describedPlan(database: Database, plan: CountedPlan, from: Model, to: Model): Promise<DescribedPlan> {
  const texts = await database.describeSteps(plan.steps)
  const rows = await rowsOf(database.main, plan.steps)
  return {
    ...plan,
    steps: plan.steps.map((step, index) => ({ ...step, sql: texts[index]!, rows: rows[index]! })),
    gains: await gainsOf(database.main, plan.changes, to),
    possibleRenames: possibleRenames(plan.changes, from, to),
  }
}

/** Counts the rows of each step in the tables before the first step. */
async function rowsOf(database: RowReader, steps: readonly PlanStep[]): Promise<readonly (number | null)[]> {
  /** Current names of tables by the names that steps give them; null: a new table. */
  const present = new Map<string, string | null>()
  const counts = new Map<string, Promise<number>>()
  const count = (name: string, where: Parameters<typeof countText>[1] = null): Promise<number> | number => {
    const table = present.has(name) ? present.get(name)! : name
    if (table === null) return 0
    const text = countText(table, where)
    const key = JSON.stringify(text)
    const counted = counts.get(key) ?? database.rows<{ count: number | string }>(toExpression(text)).then(([row]) => Number(row!.count))
    counts.set(key, counted)
    return counted
  }
  const ofStep = (step: PlanStep): Promise<number> | number | null => {
    switch (step.kind) {
      case 'createTable':
        present.set(step.table.name, null)
        return null
      case 'renameTable':
      case 'keepTable': {
        const to = step.kind === 'renameTable' ? step.to : step.as
        present.set(to, present.has(step.table) ? present.get(step.table)! : step.table)
        return null
      }
      case 'keepRows':
      case 'deleteRows':
        // After renames, a condition may refer to a missing table.
        return count(step.table, present.size === 0 ? step.where : null)
      case 'moveRows':
        return count(step.from)
      case 'convertColumn':
      case 'declareColumn':
      case 'setValues':
      case 'makeDrafts':
      case 'createIndex':
        return count(step.table)
      default:
        return null
    }
  }
  const found: (number | null)[] = []
  for (const step of steps) found.push(await ofStep(step))
  return found
}

/** A permission of a role or token. */
interface PermittedCaller {
  readonly name: string
  readonly action: string
}

async function gainsOf(database: RowReader, changes: readonly ModelChange[], to: Model): Promise<readonly Gain[]> {
  const news = changes.flatMap((change) => newIn(change, to))
  if (news.length === 0) return []
  const roles = await database.rows<PermittedCaller>(sql`select r.name, p.action from up_permissions p
    join up_permissions_role_lnk l on l.permission_id = p.id join up_roles r on r.id = l.role_id`)
  const tokens = await database.rows<PermittedCaller>(sql`select t.name, p.action from strapi_api_token_permissions p
    join strapi_api_token_permissions_token_lnk l on l.api_token_permission_id = p.id join strapi_api_tokens t on t.id = l.api_token_id`)
  const administrators = await database.rows<{ name: string; subject: string | null; properties: unknown }>(
    sql`select r.name, p.subject, p.properties from admin_permissions p
      join admin_permissions_role_lnk l on l.permission_id = p.id join admin_roles r on r.id = l.role_id
      where p.action like 'plugin::content-manager.explorer.%' and r.code <> 'strapi-super-admin'`,
  )
  const unnamed = administrators.filter(({ properties }) => !namesFields(properties))
  const of = (readers: readonly PermittedCaller[], uid: string) => namesOf(readers.filter(({ action }) => action.startsWith(`${uid}.`)))
  return news.map(({ schema, attribute }) => ({
    schema,
    attribute,
    roles: of(roles, schema),
    tokens: of(tokens, schema),
    administrators: namesOf(unnamed.filter(({ subject }) => subject === schema)),
  }))
}

const namesOf = (readers: readonly { readonly name: string }[]): readonly string[] => [...new Set(readers.map(({ name }) => name))].sort()

const namesFields = (properties: unknown): boolean => {
  const read = typeof properties === 'string' ? (JSON.parse(properties) as unknown) : properties
  return Array.isArray((read as { readonly fields?: unknown } | null)?.fields)
}

type New = Pick<Gain, 'schema' | 'attribute'>

/** New visible content: a type, or an attribute of it or of a component in it. */
function newIn(change: ModelChange, model: Model): readonly New[] {
  if (change.kind === 'schemaCreated') return model.types.get(change.schema)?.exposed ? [{ schema: change.schema, attribute: null }] : []
  if (change.kind !== 'attributeCreated') return []
  const { schema, attribute } = change
  const isHidden = (owner: Schema | undefined) => owner?.attributes.get(attribute)?.private === true
  const type = model.types.get(schema)
  if (type !== undefined) return isHidden(type) ? [] : [{ schema, attribute }]
  if (isHidden(model.components.get(schema))) return []
  return [...model.types.values()]
    .filter(({ exposed }) => exposed)
    .flatMap(({ uid, attributes }) =>
      [...attributes.values()]
        .filter((each) => mayContain(each, schema, model))
        .map(({ name }) => ({ schema: uid, attribute: `${name} (${schema}.${attribute})` })),
    )
}
