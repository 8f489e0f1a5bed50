// `octavo openapi [folder]`: the OpenAPI description of a project's API, for a role or with full access.

import type { Config } from '../../foundation/config/config.js'
import { fullAccess } from '../../foundation/grants.js'
import { commandLine, quotedWord } from '../../foundation/runtime/terminal.js'
import { listRoles } from '../../identity/access/roles.js'
import type { Model } from '../../model/schema/types.js'
import { describe, describedOf } from '../../project/description/openapi/description.js'
import type { DescriptionReader } from '../../project/description/openapi/operation.js'
import { findRole } from './actions.js'
import { orExplain } from './explain-error.js'
import { type GeneratedFileOptions, writeOutput } from './output.js'
import { anyDatabase, lookIntoProject, readProjectFolder } from './project.js'

interface OpenapiOptions extends GeneratedFileOptions {
  /** Type, name or id of a role; default: public. */
  readonly role?: string
  /** Describes everything; needs no database. */
  readonly all?: boolean
}

export const openapiCommand = orExplain(async (folder: string, { role, all, ...output }: OpenapiOptions) => {
  const { config, model, reader } = all ? await everything(folder) : await ofRole(folder, role ?? 'public')
  const text = `${JSON.stringify(describe(describedOf(config, model, config.publicUrl), reader), null, 2)}\n`
  const options = all ? ' --all' : role === undefined ? '' : ` --role ${quotedWord(role)}`
  writeOutput(text, output, 'openapi.json', commandLine(`openapi ${quotedWord(folder)}${options}`, null))
})

interface DescribedProject {
  readonly config: Config
  readonly model: Model
  readonly reader: DescriptionReader
}

async function everything(folder: string): Promise<DescribedProject> {
  const { config, model } = await readProjectFolder(folder, anyDatabase)
  return { config, model, reader: { may: fullAccess.may, isOpen: () => false } }
}

const ofRole = (folder: string, nameOrId: string): Promise<DescribedProject> =>
  lookIntoProject(folder, async ({ config, model, database }) => {
    const role = await findRole({ database }, nameOrId)
    const roles = await listRoles(database)
    const allowed = new Set(role.actions)
    const open = new Set(roles.find(({ type }) => type === 'public')?.actions)
    return { config, model, reader: { may: (action) => allowed.has(action), isOpen: (action) => open.has(action) } }
  })
