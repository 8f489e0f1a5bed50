// A request to Strapi's content-type builder as a change of the model.

import type { MainConnection } from '../../database/database.js'
import type { BuilderRequest } from '../../model/builder/project-schemas.js'
import type { LiveModel } from './live-model.js'

/** What a request came to. */
export interface BuilderResponse {
  readonly status: number
  readonly body: unknown
}

/** Carries out requests to the content-type builder; resolves when the change is in force, or with Strapi's refusal. */
export type ChangeByBuilder = (request: BuilderRequest, agreed: ReadonlySet<string>) => Promise<BuilderResponse>

/** Changes of the model, by what is asked for and by requests to Strapi's content-type builder. */
export interface ModelChanges {
  readonly live: LiveModel
  readonly byBuilder: ChangeByBuilder
}

/** Loads the code of the builder, which a service whose model is locked does without. */
export const loadBuilder = () => Promise.all([import('../../model/builder/change-schemas.js'), import('./project-schemas.js')])

/** Opens the content-type builder on a project. Its functions throw what `LiveModel.change` throws. */
export function openContentTypeBuilder(folder: string, database: MainConnection, liveModel: LiveModel): ChangeByBuilder {
  return async (request, agreed) => {
    const [{ changeSchemas }, { readProjectSchemas }] = await loadBuilder()
    let response: BuilderResponse | null = null
    await liveModel.change(async (inForce) => {
      const result = changeSchemas(await readProjectSchemas(folder, inForce, { database, request }), request)
      response = { status: result.status, body: result.body }
      if (result.kind === 'refusal') return null
      const deleted = result.deleted.filter((path) => !path.endsWith('/')).map((path) => [path, null] as const)
      const renames = [...result.moved].map(([from, to]) => ({ kind: 'component' as const, from, to }))
      const files = new Map<string, string | null>([...result.files, ...deleted])
      return { summary: `${request.method} ${request.path}`, files, renames, agreed }
    })
    return response!
  }
}
