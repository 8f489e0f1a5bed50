// Strapi's update-schema request as a change of the model.
import type { LiveModel } from './live-model.js'

/** Strapi's response. */
export interface BuilderResponse {
  readonly status: number
  readonly body: unknown
}

/** Applies the body of an update-schema request; resolves once the change is active, or with Strapi's refusal. */
export type ChangeByBuilder = (body: unknown, agreed: ReadonlySet<string>) => Promise<BuilderResponse>

/** Changes of the model, by this service's own requests and by those of Strapi's content-type builder. */
export interface ModelChanges {
  readonly live: LiveModel
  readonly byBuilder: ChangeByBuilder
}

/** Loads the code of the builder; a service with a locked model does not need it. */
export const loadBuilder = () => Promise.all([import('../../model/builder/update-schema.js'), import('./project-schemas.js')])

/** The returned function throws what `LiveModel.change` throws. */
export function openContentTypeBuilder(folder: string, liveModel: LiveModel): ChangeByBuilder {
  return async (body, agreed) => {
    const [{ updateSchema }, { readProjectSchemas }] = await loadBuilder()
    let response: BuilderResponse | null = null
    await liveModel.change(async (inForce) => {
      const result = updateSchema(await readProjectSchemas(folder, inForce, body), body)
      response = { status: result.status, body: result.body }
      if (result.kind === 'refusal') return null
      const deleted = result.deleted.filter((path) => !path.endsWith('/')).map((path) => [path, null] as const)
      const renames = [...result.moved].map(([from, to]) => ({ kind: 'component' as const, from, to }))
      const files = new Map<string, string | null>([...result.files, ...deleted])
      return { summary: 'POST /content-type-builder/update-schema', files, renames, agreed }
    })
    return response!
  }
}
