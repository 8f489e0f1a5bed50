// The table of all resources of the administration API.
import * as z from 'zod'
import type { FormerResult } from '../../admin/idempotency.js'
import { administratorRoles } from '../../admin/manage/administrator-roles.js'
import { administrators } from '../../admin/manage/administrators.js'
import { locales } from '../../admin/manage/locales.js'
import type { Done, Operation, RequestOperationContext } from '../../admin/manage/operation.js'
import { roles } from '../../admin/manage/roles.js'
import { settings } from '../../admin/manage/settings.js'
import { tokens } from '../../admin/manage/tokens.js'
import { users } from '../../admin/manage/users.js'
import { views } from '../../admin/manage/views.js'
import { webhooks } from '../../admin/manage/webhooks.js'
import { byCode, byId } from '../../admin/values.js'
import { type Resource, type ResourceRequest, respond, respondNothing, texts } from './resource.js'
import { activityResources } from './resources/activity.js'
import { bulkResources } from './resources/bulk.js'
import { contentResources, editingResources, linkResources } from './resources/content.js'
import { eventResources } from './resources/events.js'
import { historyResources } from './resources/history.js'
import { fileResources, folderResources } from './resources/media.js'
import { doctorResources, modelResources } from './resources/model.js'
import { presenceResources } from './resources/presence.js'
import { scheduleResources } from './resources/schedule.js'
import { recoveryResources, sessionResources } from './resources/session.js'
import { descriptionOf, startResources } from './resources/start.js'
import { typeResources } from './resources/types.js'
import { orCurrent } from './revisions.js'

/** The context of an operation for a request. */
const operationContext = (request: ResourceRequest): RequestOperationContext => {
  const { administration, administrator, actor, installation, parts, expected } = request
  return {
    administration,
    administrator,
    actor,
    revisions: expected,
    isSuperAdmin: administrator.isSuperAdmin,
    config: parts.config,
    database: administration.database,
    writer: administration.writer,
    now: administration.now,
    model: installation.model,
    accounts: installation.accounts,
  }
}

/** The resource of an operation. A revision in its response is the ETag. */
function toResource(operation: Operation): Resource {
  const { route, rights, input, output, run, respond: view, audit, state, ...rest } = operation
  const [method, path] = route.split(' ') as [Resource['method'], string]
  const inputOf = ({ params, query, body }: ResourceRequest) => Object.assign({}, params, query, body) as never
  const change = async (request: ResourceRequest): Promise<Done> =>
    run === undefined ? { id: '' } : run({ ...operationContext(request), audit: audit! }, inputOf(request))
  const respondTo = async (request: ResourceRequest, done: Done) => {
    if (output === null) return respondNothing()
    const value = (await view!(operationContext(request), inputOf(request), done)) as { readonly data: { readonly revision?: string } }
    const { revision } = value.data
    return respond(value, revision === undefined ? undefined : { etag: `"${revision}"` })
  }
  return {
    ...rest,
    method,
    path,
    who: rights,
    headers: state === undefined ? {} : { state },
    params: path.includes(':id') ? byId : path.includes(':code') ? byCode : texts,
    query: method === 'GET' ? (input ?? null) : null,
    body: method === 'GET' ? null : (input ?? (method === 'POST' ? z.strictObject({}) : null)),
    response: output,
    status: output === null ? 204 : method === 'POST' && !path.includes(':') ? 201 : 200,
    handle: async (request) =>
      state === undefined
        ? respondTo(request, await change(request))
        : orCurrent(
            state.read === undefined || request.administrator.may(state.read),
            () => change(request),
            async () => (await respondTo(request, { id: '' })) as never,
          ),
    ...(method === 'POST' && audit !== undefined
      ? {
          respondAgain: (request: ResourceRequest, { ids, responseData }: FormerResult) =>
            respondTo(request, { id: ids[0]!, responseData }),
        }
      : {}),
  }
}

export const resources: readonly Resource[] = [
  ...sessionResources,
  ...recoveryResources,
  ...contentResources,
  ...linkResources,
  ...fileResources,
  ...folderResources,
  ...typeResources,
  ...startResources,
  ...eventResources,
  ...presenceResources,
  ...activityResources,
  ...[administrators, administratorRoles, tokens, roles, users, locales, webhooks, settings, views].flatMap(
    (operations: Readonly<Record<string, Operation>> | readonly Operation[]) => Object.values(operations).map(toResource),
  ),
  ...modelResources,
  ...editingResources,
  ...historyResources,
  ...bulkResources,
  ...scheduleResources,
  ...doctorResources,
  descriptionOf(() => resources),
]
