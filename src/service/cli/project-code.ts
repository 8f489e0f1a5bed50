// Logs the effects of a Strapi project's code that Octavo does not run, and settings that replace constant defaults.
import type { Logger } from 'pino'
import { findCodeFiles } from '../../../packages/strapi-code/code-files.js'
import type { Configured, SuggestedDefaults } from '../../../packages/strapi-code/code-report.js'
import { readProjectCode } from '../../../packages/strapi-code/read-project-code.js'
import type { Config } from '../../foundation/config/config.js'
import { signOfStrapi } from '../../foundation/config/files.js'
import { actionsAt, createExcludedRoutes, type ExcludedRoutes } from '../../model/schema/type-routes.js'
import type { Model } from '../../model/schema/types.js'
import type { Service } from '../service.js'

/** Maximum number of files with a separate line. */
const maxLines = 200

/** True if a project has code; reading it needs a thread. */
export const hasCode = (folder: string): boolean => signOfStrapi(folder) !== null || findCodeFiles(folder).length > 0

/** Logs the code of a project: one line per file, then the defaults that the service accepts. */
export async function reportProjectCode(
  config: Config,
  { model, documents }: Pick<Service, 'model' | 'documents'>,
  logger: Logger,
): Promise<void> {
  const { folder } = config
  if (!hasCode(folder)) return
  const input = { folder, attributes: attributesOf(model), configured: configuredIn(config, model) }
  const found = await readProjectCode(input).catch((error: Error) => {
    logger.warn({ err: error }, 'the code of the project, which is not run, could not be read')
    return null
  })
  if (found === null || found.lines.length === 0) return
  for (const { message, isSettled, ...line } of found.lines.slice(0, maxLines)) logger[isSettled ? 'info' : 'warn'](line, message)
  const more = found.lines.length - maxLines
  if (more > 0) logger.warn({ more }, 'more files with code that is not run')
  for (const { uid, defaults, paths } of found.suggestions) {
    const problem = await getProblem(documents(uid), defaults)
    if (problem === null) logger.warn({ paths, types: { [uid]: { defaults } } }, adviceFor(defaults))
    else logger.warn({ paths, uid, problem }, 'what the code sets cannot be defaults of octavo.config')
  }
  logger.info({ files: found.lines.length }, 'read the code of the project, which Octavo does not run')
}

const advice =
  'defaults for octavo.config that take the place of this code, for lists and single documents: npx octavo adopt writes those that find and findOne both set'

const adviceFor = (defaults: SuggestedDefaults['defaults']): string =>
  'filters' in defaults ? `${advice}; clients can replace filters: if they protect something, take types.<uid>.scope` : advice

/** Reads one document with these defaults; returns the error message, if any. */
async function getProblem(documents: ReturnType<Service['documents']>, defaults: SuggestedDefaults['defaults']): Promise<string | null> {
  try {
    await documents.findFirst(defaults)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** The names of all attributes of a model. */
export const attributesOf = ({ types, components }: Model): readonly string[] => [
  ...new Set([...types.values(), ...components.values()].flatMap(({ attributes }) => [...attributes.keys()])),
]

const configuredIn = ({ types, routes }: Pick<Config, 'types' | 'routes'>, model: Model): Configured => ({
  contentRoutes: listContentRoutes(model, createExcludedRoutes(types)),
  defaults: Object.fromEntries(Object.entries(types).map(([uid, { defaults = {} }]) => [uid, Object.keys(defaults)])),
  selections: Object.entries(types).flatMap(([uid, type]) => (type.routes === undefined ? [] : [uid])),
  routes: routes.map(({ method, path }) => `${method} ${path}`),
})

/** The routes of all content-types, by method and path. */
const listContentRoutes = ({ paths }: Model, leftOut: ExcludedRoutes | null): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...paths].flatMap(([name, type]) =>
      (type.singleType ? [false] : [false, true]).flatMap((hasId) =>
        Object.entries(actionsAt(type, hasId))
          .filter(([, action]) => leftOut?.(type.uid, action) !== true)
          .map(([method]) => [`${method} /${name}${hasId ? '/:' : ''}`, type.uid]),
      ),
    ),
  )
