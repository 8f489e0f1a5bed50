// /model and /doctor: the content model, its changes, and checks of the database.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { auditEntry, entryStatement } from '../../../admin/activity.js'
import { pageInput, pageMeta, parseCursor, timestamp, toPage } from '../../../admin/values.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import type { NoteChange, PrepareChange } from '../../../project/model-changes/change.js'
import type { Gain } from '../../../project/model-changes/described-plan.js'
import { readSchemaRequest, schemaRequest } from '../../../project/model-changes/schema-request.js'
import { describeComponents, describeTypes, formatChange, refuseLocked, withPlan } from '../../model-responses.js'
import { type Resource, type ResourceRequest, resource, respond } from '../resource.js'
import { cacheable } from '../revisions.js'

const reads = { action: 'plugin::content-type-builder.read' }
const text = z.string()
const word = z.looseObject({ kind: text })
const counted = z.strictObject({ name: text, about: text, count: z.int(), exact: z.boolean() })

/** The effects of a change. */
const plan = {
  version: text,
  changes: z.array(word),
  responses: z.array(text),
  steps: z.array(word),
  losses: z.array(counted),
  conditions: z.array(counted),
  kept: z.array(word),
  narrowed: z.array(text),
}
const names = z.array(text)
const gain = z.strictObject({ schema: text, attribute: text.nullable(), roles: names, tokens: names, administrators: names })
const shownPlan = z.strictObject({ data: z.strictObject({ id: text, ...plan, gains: z.array(gain), possibleRenames: z.array(word) }) })
const made = z.strictObject({ data: z.strictObject(plan) })
const shownSchema = z.looseObject({ uid: text, schema: z.looseObject({ displayName: text, attributes: z.looseObject({}) }) })

const plannedBody = schemaRequest
const appliedBody = schemaRequest.extend({ plan: z.string().max(100), version: z.string().max(100) })

/** The id of a plan, derived from the request and the version of the model. */
const planId = (version: string, { data, renames, neverPublished }: z.output<typeof plannedBody>): string =>
  createHash('sha256')
    .update(JSON.stringify([version, data, renames, neverPublished]))
    .digest('base64url')
    .slice(0, 22)

type MadeAction = 'update' | 'undo' | 'restore'

/** Notes a change in the log of activity, by the version of the model that it leads to. */
const noteOf =
  ({ actor, administration }: ResourceRequest, action: MadeAction): NoteChange =>
  ({ version, summary }) =>
    entryStatement(actor, { action, subject: 'model', id: version, name: summary.slice(0, 255) }, administration.now())

/** The response to an applied change, with its line in the audit log. */
function audited({ actor, parts }: ResourceRequest, action: MadeAction, changed: Parameters<typeof withPlan>[0]) {
  parts.backend.audit?.note(auditEntry(actor, { action, subject: 'model', id: changed.version }))
  return respond({ data: withPlan(changed) } as never)
}

/** The change that a request asks for. What changes the model waits for requests under way, so this one is none from here on. */
function preparation(context: ResourceRequest, body: object): PrepareChange {
  const { parts, agreed, leaveInstallation } = context
  leaveInstallation()
  return async (inForce) => ({
    ...(await readSchemaRequest(parts.config.folder, inForce, body, agreed)),
    note: noteOf(context, 'update'),
  })
}

/** Callers that gain access, without names of roles and tokens that the administrator may not list. */
function namedTo({ administrator: { may } }: ResourceRequest, { roles, tokens, administrators, ...gain }: Gain): Gain {
  return {
    ...gain,
    roles: may('plugin::users-permissions.roles.read') ? roles : [],
    tokens: may('admin::api-tokens.read') ? tokens : [],
    administrators: may('admin::roles.read') ? administrators : [],
  }
}

const changes: readonly Resource[] = [
  resource({
    method: 'POST',
    path: '/model/plan',
    summary: 'Plan a change of the model, without making it',
    who: reads,
    body: plannedBody,
    response: shownPlan,
    handle: async (context) => {
      const { parts, body } = context
      refuseLocked(parts.config)
      const planned = await parts.backend.modelChanges.live.plan(preparation(context, body))
      const gains = planned.plan?.gains.map((gain) => namedTo(context, gain))
      return respond({ data: { id: planId(planned.version, body), ...withPlan(planned), gains } } as never)
    },
  }),
  resource({
    method: 'POST',
    path: '/model/apply',
    summary: 'Apply a planned change of the model',
    who: 'superAdministrator',
    isStrong: true,
    headers: { agrees: true },
    refusals: [412, 503],
    body: appliedBody,
    response: made,
    handle: async (context) => {
      const { parts, body } = context
      refuseLocked(parts.config)
      const { plan: id, ...wanted } = body
      if (planId(wanted.version, wanted) !== id)
        throw new ApiError('PreconditionFailedError', 'This is not the plan with that id. Plan the change again')
      return audited(context, 'update', await parts.backend.modelChanges.live.change(preparation(context, wanted)))
    },
  }),
  resource({
    method: 'POST',
    path: '/model/undo',
    summary: 'Undo the last change of the model',
    who: 'superAdministrator',
    isStrong: true,
    headers: { agrees: true },
    refusals: [404, 503],
    body: z.strictObject({ change: z.int().positive().nullable().default(null) }),
    response: made,
    handle: async (context) => {
      const { parts, body, agreed, leaveInstallation } = context
      refuseLocked(parts.config)
      leaveInstallation()
      const decisions = { agreed, note: noteOf(context, 'undo') }
      return audited(context, 'undo', await parts.backend.modelChanges.live.undo(body.change, decisions))
    },
  }),
  resource({
    method: 'POST',
    path: '/model/restore',
    summary: 'Restore the archived values of an attribute',
    who: 'superAdministrator',
    isStrong: true,
    refusals: [404, 409, 503],
    body: z.strictObject({ attribute: z.string().max(600) }),
    response: made,
    handle: async (context) => {
      const { parts, body, leaveInstallation } = context
      refuseLocked(parts.config)
      leaveInstallation()
      return audited(
        context,
        'restore',
        await parts.backend.modelChanges.live.restore(body.attribute, { note: noteOf(context, 'restore') }),
      )
    },
  }),
]

/** The resources of the model. */
export const modelResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/model',
    summary: 'Read the content-types and components, and the version of the model',
    who: reads,
    response: z.strictObject({
      data: z.strictObject({ version: text, isLocked: z.boolean(), types: z.array(shownSchema), components: z.array(shownSchema) }),
    }),
    handle: async ({ installation: { model }, parts }) =>
      cacheable({
        version: model.version,
        isLocked: !parts.config.modelChanges,
        types: describeTypes(model),
        components: describeComponents(model),
      }),
  }),
  resource({
    method: 'GET',
    path: '/model/changes',
    summary: 'List the changes of the model, the latest first',
    who: reads,
    query: z.strictObject(pageInput),
    response: z.strictObject({
      data: z.array(
        z.strictObject({ id: z.int(), version: text, summary: text, undoes: z.int(), isFiled: z.boolean(), madeAt: timestamp }),
      ),
      meta: pageMeta,
    }),
    handle: async ({ parts, query: { after, limit } }) => {
      const before = parseCursor(after, 'model') ?? Number.POSITIVE_INFINITY
      const rows = (await parts.backend.modelChanges.live.history()).filter(({ id }) => id < before).toReversed()
      const page = toPage(rows.slice(0, limit + 1), limit, 'model', ({ id }) => id)
      return respond({ data: page.shown.map(formatChange), meta: page.meta })
    },
  }),
  ...changes,
]

const check = z.strictObject({
  name: z.string(),
  verdict: z.enum(['ok', 'note', 'wrong']),
  severity: z.enum(['note', 'error']),
  count: z.int(),
  examples: z.array(z.string()),
  remedy: z.string().nullable().optional(),
})

/** The resource of the consistency checks. Findings name rows and files of everything there is, which no other right shows. */
export const doctorResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/doctor',
    summary: 'Check the database and the files, as octavo doctor does',
    who: 'superAdministrator',
    refusals: [503],
    response: z.strictObject({ data: z.strictObject({ sound: z.boolean(), checks: z.array(check) }) }),
    handle: async ({ parts, installation }) => {
      const { sound, checks } = await parts.backend.administration.doctor.examine(installation.model)
      return respond({ data: { sound, checks } })
    },
  }),
]
