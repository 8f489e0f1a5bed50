// Requests to the content-type builder: the changed schemas and files, or the refusal, as Strapi answers it.
import { boundedText } from '../../foundation/errors/bounded-values.js'
import { deletedFiles, writtenFiles } from './files.js'
import { unloadable } from './loadable.js'
import { changeCategory, changeOlderComponent, changeOlderType } from './older-routes.js'
import {
  type Accepted,
  type BuilderRequest,
  type Draft,
  isComponentUid,
  type Mistake,
  type ProjectSchemas,
  type Refusal,
  type SchemaChange,
} from './project-schemas.js'
import { invalidBody, refused, unknownRoute } from './refusals.js'
import { excessOf, longUid } from './request-bounds.js'
import { updateSchema } from './update-schema.js'

/**
 * Carries out a request on the schemas of a project: both the older routes and update-schema. Nothing is written; the result says what is
 * to be written and deleted.
 */
export function changeSchemas(current: ProjectSchemas, request: BuilderRequest): SchemaChange | Refusal {
  const refuse = (mistakes: readonly Mistake[]): Refusal =>
    request.path.endsWith('/update-schema') ? refused(mistakes[0]!.message) : invalidBody(mistakes)
  const excess = excessOf(request.body)
  if (excess !== null) return refuse([{ path: excess.path, message: `${excess.path.join('.')} ${excess.message}` }])
  const draft: Draft = new Map(current.schemas)
  const result = route(current, draft, request)
  if (result.kind === 'refusal') return result
  const long = [...draft.keys()].find((uid) => !current.schemas.has(uid) && longUid(uid) !== null)
  if (long !== undefined) return refuse([{ path: [], message: `The uid ${boundedText(long, 60)} ${longUid(long)}` }])
  const mistakes = unloadable(current, draft)
  if (mistakes.length > 0) return refuse(inBody(request, mistakes))
  const files = writtenFiles(current, draft)
  const { status, body } = result
  const deleted = deletedFiles(current, draft, files)
  return { kind: 'change', status, body, files, deleted, moved: movedComponents(draft), schemas: withoutMoves(draft) }
}

const movedComponents = (draft: Draft): ReadonlyMap<string, string> =>
  new Map([...draft.values()].flatMap(({ uid, movedFrom }) => (movedFrom === undefined || movedFrom === uid ? [] : [[movedFrom, uid]])))

/** The next request starts from the uids that there are now. */
const withoutMoves = (draft: Draft): Draft => new Map([...draft].map(([uid, { movedFrom: _, ...schema }]) => [uid, schema]))

/** Mistakes with paths in the body, in place of uids. */
const inBody = ({ path }: BuilderRequest, mistakes: readonly Mistake[]): readonly Mistake[] =>
  mistakes.map((mistake) => {
    const [uid, ...name] = mistake.path
    if (uid === undefined) return mistake
    const key = path.includes('/content-types') ? 'contentType' : 'component'
    return { ...mistake, path: isComponentUid(uid) === (key === 'component') ? [key, ...name] : ['components', uid, ...name] }
  })

function route(current: ProjectSchemas, draft: Draft, { method, path, body }: BuilderRequest): Accepted | Refusal {
  const [, what, encoded] = /^\/content-type-builder\/([a-z-]+)(?:\/([^/?]+))?$/.exec(path) ?? []
  const name = encoded === undefined ? undefined : decoded(encoded)
  const form = `${method} ${what}${name === undefined ? '' : '/:name'}`
  switch (form) {
    case 'POST update-schema':
      return updateSchema(current, draft, body) ?? { kind: 'accepted', status: 200, body: {} }
    case 'POST content-types':
    case 'PUT content-types/:name':
    case 'DELETE content-types/:name':
      return changeOlderType(current, draft, method, name, body)
    case 'POST components':
    case 'PUT components/:name':
    case 'DELETE components/:name':
      return changeOlderComponent(current, draft, method, name, body)
    case 'PUT component-categories/:name':
    case 'DELETE component-categories/:name':
      return changeCategory(draft, method, name!, body)
    default:
      return unknownRoute
  }
}

/** A segment of a path; one that cannot be decoded names nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
