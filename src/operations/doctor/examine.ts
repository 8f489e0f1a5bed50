// All checks of `octavo doctor`: rows, tables against the model, and files of the media library.
import type { DatabaseView } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import { type CheckResult, missingFiles, runChecks } from './checks.js'

interface ExaminedView {
  readonly database: DatabaseView
  readonly model: Model
}

export const examine = async ({ database, model }: ExaminedView, uploadsFolder: string): Promise<readonly CheckResult[]> => [
  ...(await runChecks({ database, model })),
  ...(await schemaMismatches(database, model)),
  await missingFiles(database.main, uploadsFolder),
]

/** Maximum number of examples per check. */
const shown = 5

/** Differences between tables and model; empty if the file cannot be read, which other checks report. */
async function schemaMismatches(view: DatabaseView, model: Model): Promise<readonly CheckResult[]> {
  try {
    const { types, columns, tables } = await view.mismatches(model)
    const checked = (name: string, warning: boolean, examples: readonly string[]): CheckResult => ({
      ...{ name, warning, count: examples.length, examples: examples.slice(0, shown) },
    })
    return [
      checked('column types match the model', false, types),
      checked('every column belongs to the model (others are ignored)', true, columns),
      checked('every table belongs to the model or to a plugin', true, tables),
    ]
  } catch {
    return []
  }
}

/** `note`: violations that Strapi leaves in normal operation. */
type CheckVerdict = 'ok' | 'note' | 'wrong'

interface ReportedCheck {
  readonly name: string
  readonly verdict: CheckVerdict
  readonly severity: 'note' | 'error'
  readonly count: number
  readonly examples: readonly string[]
  /** Absent if there is nothing to do. */
  readonly remedy?: string | null
}

export interface DoctorReport {
  /** No check failed. */
  readonly sound: boolean
  readonly checks: readonly ReportedCheck[]
}

export const verdictOf = ({ count, warning }: CheckResult): CheckVerdict => (count === 0 ? 'ok' : warning ? 'note' : 'wrong')

/** The findings as JSON. */
export function reportOf(found: readonly CheckResult[]): DoctorReport {
  const checks = found.map((result) => {
    const { name, warning, count, examples } = result
    const remedy = count > 0 ? { remedy: remedies[name] ?? null } : {}
    return { name, verdict: verdictOf(result), severity: warning ? ('note' as const) : ('error' as const), count, examples, ...remedy }
  })
  return { sound: checks.every(({ verdict }) => verdict !== 'wrong'), checks }
}

/** By name of the check. */
export const remedies: Readonly<Record<string, string>> = {
  'the database file is intact':
    'Parts of the file cannot be read. Stop the service and restore a backup; sqlite3 FILE ".recover" may rescue some data.',
  'the tables can be read':
    'The list of tables cannot be read, so nothing else could be checked. Check the permissions of the file or the database user.',
  'tables with names of the content model belong to the project':
    'A start refuses the database. Another program may have made the table, or it was left over from Strapi 4: use another database or schema for the project, or rename the table. If it is one of the project, restore a backup.',
  'no change of the model is unfinished':
    'Its tables are those of neither model. A start, or npx octavo model apply, finishes the change. Where a step fails, its message names the step and the reason: remove the cause, and run it again.',
  'foreign keys reference existing rows':
    'Rows reference others that do not exist, so populate leaves them out. Save the documents that own them again, or delete the rows.',
  'a document has at most one draft and one published row per locale':
    'Lists show them several times. Make a backup and PUT {"data":{}} to each document with ?status=draft, and its locale if it has locales: of copies that keeps the first row, with the newest values and the links of all. Rows that are still named then are not copies: they differ in locale or state (draft or published), on a type without locales or drafts. They stay as they are but for the first, which reads of the document show and writes change; switching localization (i18n) or draftAndPublish on in the schema shows them again. A draft older than its published row is replaced by a copy of it then, and kept aside.',
  'every row has a document id':
    'Clients cannot request these documents individually. Give each row a document id of 24 letters, or delete it.',
  'every published row has its draft':
    'Clients see these documents, but editors do not and cannot change them. Delete the published row, or write its content again with a PUT.',
  'link rows reference existing rows':
    'Populate leaves these relations out; nothing else is affected. Delete the rows of the link table, or set the relation again.',
  'targets of an entry have distinct positions':
    'Their order in responses is arbitrary. Write the whole relation again in the right order.',
  'to-one relations have at most one target': 'Clients get one of several targets at random. Set the relation again to the right one.',
  'relations that a change of the model made to-one have at most one target':
    'The first target is returned; the others come back if the relation is made to-many again. Set the relation to keep one of them.',
  'every component row is used': 'These rows are not visible and only take space. They may be deleted.',
  'no component row is used twice':
    'A change to one document changes the other. Save one of them with the component sent without its id, which creates a new row.',
  'component entries reference existing rows':
    'Responses leave these components out. Strapi leaves such rows too; delete them, or save the document that owns them again.',
  'component entries have distinct positions':
    'Their order in responses is arbitrary. Save the document with the whole list in the right order.',
  'single components have at most one entry': 'Clients get the first of several entries. Save the component again.',
  'components that a change of the model made single have at most one entry':
    'The first entry is returned; the others come back if the component is made repeatable again. Save the component to keep one of them.',
  'file links have an existing owner':
    'These links are not visible; the files are not affected. The rows of files_related_mph may be deleted.',
  'file links have an existing file': 'Responses leave these files out. Choose the file again, or delete the rows of files_related_mph.',
  'files of an attribute have distinct positions':
    'Their order in responses is arbitrary. Write the whole attribute again in the right order.',
  'every local file is in the uploads folder':
    'Their URLs return 404. Copy the files back into the uploads folder (UPLOADS_DIR), or delete them in the media library.',
  'column types match the model':
    'Values written earlier are returned unchanged or as null. Restore the type of the attribute, or convert the column and its values.',
  'every table of the content model exists': 'Nothing needs to be done: a start creates them.',
  'every relation has one owner and a table':
    'Clients do not get these relations, or from one side only; Strapi reads such schemas in the same way. Write inversedBy on one side and mappedBy on the other.',
  'owners of a target have distinct positions':
    'Strapi leaves such positions when it saves. The order seen from the target is arbitrary; save the owners again if it matters.',
  'component entries use components of the content model':
    'The component was removed from the model. Responses leave these entries out; saving the document removes them.',
  'file links belong to types of the content model': 'The type was removed from the model. Nothing shows these links; they may be deleted.',
  'polymorphic relations reference existing rows':
    'Their targets were deleted, and responses leave them out. Saving the document without them removes them.',
  'pending links have an existing owner':
    'Strapi published the owner again or deleted it. These links have no effect; publish the owner again if it lacks them.',
  'pending links have an existing target': 'The target was deleted before it was published. These links have no effect.',
  'every column belongs to the model (others are ignored)':
    'An attribute was removed or renamed. Its values stay in the column and are not shown.',
  'every table belongs to the model or to a plugin': 'A type or component was removed, or its plugin is not known. The table is not read.',
}

/** The settings that an examination depends on. */
/** Milliseconds for all checks: at least 30 seconds, since a short `limits.routeTimeout` is about code of the project. */
export const doctorTimeout = ({ routeTimeout }: { readonly routeTimeout: number }): number => Math.max(30_000, routeTimeout)

export type DoctorSettings = Pick<Config, 'database' | 'uploadsFolder' | 'limits'>

export interface ToDoctorProcess {
  readonly settings: DoctorSettings
  readonly model: Model
}

export type FromDoctorProcess = { readonly report: DoctorReport } | { readonly failure: string }
