// Strapi's update-schema request as a change of the model.
import { updateSchema } from '../../model/builder/update-schema.js'
import type { LiveModel } from './live-model.js'
import { readProjectSchemas } from './project-schemas.js'

interface BuilderResponse {
  readonly status: number
  readonly body: unknown
}

/** Applies the body of an update-schema request; resolves once the change is active, or to Strapi's refusal. */
type ChangeByBuilder = (body: unknown, agreed: ReadonlySet<string>) => Promise<BuilderResponse>

/** Model changes by Octavo's own requests and by those of Strapi's content-type builder. */
export interface ModelChanges {
  readonly live: LiveModel
  readonly byBuilder: ChangeByBuilder
}

/** The returned function throws the errors of `LiveModel.change`. */
export function openContentTypeBuilder(folder: string, liveModel: LiveModel): ChangeByBuilder {
  return async (body, agreed) => {
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
