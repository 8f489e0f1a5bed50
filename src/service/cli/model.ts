// `octavo model plan|apply|undo|restore|history`: model changes in the schema files, and their history.
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import type { Rename } from '../../model/diff/types.js'
import type { StartDecisions } from '../../project/model-changes/change.js'
import { listChanges, type UnfinishedChange, unfinishedChange } from '../../project/model-changes/change-log.js'
import type { CountedContent } from '../../project/model-changes/counted-plan.js'
import type { DescribedPlan } from '../../project/model-changes/described-plan.js'
import { type LiveModel, openLiveModel, planOfFiles } from '../../project/model-changes/live-model.js'
import { named, renameText } from '../../project/model-changes/refusals.js'
import { openModelForCommand } from '../project-model.js'
import { onDatabase, orExplain } from './explain-error.js'
import { formatTime, type ListOptions, pluralize, print, printJson, printTable } from './output.js'
import { checkDatabase, loadWithoutSecrets, lookIntoStarted, readProjectFolder } from './project.js'

interface DecisionOptions extends ListOptions {
  readonly rename?: string
  readonly publishDrafts?: boolean
  readonly agree?: string
}

type OpenModel = Awaited<ReturnType<typeof openModelForCommand>>['options']

const list = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** `api::note.note.body=text`, `api::note.note=api::memo.memo`, `shared.seo=shared.meta`. @throws ConfigError */
function parseRename(text: string): Rename {
  const [, from = '', to = ''] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  const isUid = (uid: string) => /^(?:[a-z]+::)?[\w-]+\.[\w-]+$/.test(uid)
  if (isUid(from) && isUid(to)) return { kind: from.includes('::') ? 'type' : 'component', from, to }
  const dot = from.lastIndexOf('.')
  const schema = from.slice(0, Math.max(dot, 0))
  if (!isUid(schema) || !/^\w+$/.test(to))
    throw new ConfigError(`--rename ${text}: expected api::note.note.body=text for an attribute, or the uids of a type or component.`)
  return { kind: 'attribute', schema, from: from.slice(dot + 1), to }
}

const parseDecisions = ({ rename, publishDrafts = false, agree }: DecisionOptions): StartDecisions => ({
  agreed: new Set(list(agree)),
  renames: list(rename).map(parseRename),
  choices: { neverPublished: publishDrafts ? 'publish' : 'keepAside' },
})

/** Runs an operation on the model of a project and explains refusals. */
async function withModel<Result>(
  folder: string,
  decisions: StartDecisions,
  work: (options: OpenModel) => Promise<Result>,
): Promise<Result> {
  const { config } = await readProjectFolder(folder, checkDatabase, loadWithoutSecrets)
  return onDatabase(config, () => opened(config, decisions, work))
}

async function opened<Result>(config: Config, decisions: StartDecisions, work: (options: OpenModel) => Promise<Result>): Promise<Result> {
  const { options, close } = await openModelForCommand(config, decisions)
  try {
    return await work(options)
  } catch (error) {
    throw error instanceof ApiError ? new ConfigError(describeRefusal(error)) : error
  } finally {
    await close()
  }
}

/** The message of a refusal, with the names to agree to. */
function describeRefusal({ message, details }: ApiError): string {
  const losses = (details?.losses ?? []) as readonly CountedContent[]
  if (losses.length === 0) return `${message}.`
  const names = losses.map(({ name }) => name)
  return `Content would no longer be shown: ${named(losses)}. Nothing was changed. --agree ${names.join(',')} does it.`
}

const sameModel = 'The database has the model of the schema files.'

/** Prints the changes in the schema files. */
export const planCommand = orExplain(async (folder: string, options: DecisionOptions) => {
  const plan = await withModel(folder, parseDecisions(options), async (open) => {
    const unfinished = await unfinishedChange(open.database.main)
    if (unfinished !== null)
      throw new ConfigError(
        `A change of the model is not finished: ${unfinished.summary}. Run ${commandLine('model apply', folder)}, which finishes it.`,
      )
    return planOfFiles(open)
  })
  if (options.json === true) printJson(plan)
  else if (plan === null) print(sameModel)
  else printPlan(plan, folder)
})

/** Applies the changes in the schema files, or finishes an interrupted change. */
export const applyCommand = orExplain(async (folder: string, options: DecisionOptions) => {
  const change = await withModel(folder, parseDecisions(options), async (open) => {
    const isUnfinished = (await unfinishedChange(open.database.main)) !== null
    if (!isUnfinished && (await planOfFiles(open)) === null) return null
    const { length } = await listChanges(open.database.main)
    return (await (await openLiveModel(open)).history()).slice(length).at(-1) ?? null
  })
  if (options.json === true) printJson(change)
  else print(change === null ? sameModel : `Change ${change.id} was made.`)
})

/** Runs work on the model, which must be the same in the schema files and the database. Resolves to the resulting change. */
const withSameModel = (folder: string, work: (model: LiveModel) => Promise<unknown>) =>
  withModel(folder, { agreed: new Set() }, async (open) => {
    if (open.start.former !== null)
      throw new ConfigError(
        `The schema files have changes that were not made. Run ${commandLine('model apply', folder)}, or take them back, before.`,
      )
    const model = await openLiveModel(open)
    await work(model)
    return (await model.history()).at(-1)!
  })

export const undoCommand = orExplain(async (folder: string, options: DecisionOptions & { readonly change?: string }) => {
  const change = options.change === undefined ? null : Number(options.change)
  if (change !== null && !Number.isSafeInteger(change)) throw new ConfigError('--change: expected the number of a change.')
  const { agreed } = parseDecisions(options)
  const undone = await withSameModel(folder, (model) => model.undo(change, { agreed }))
  if (options.json === true) printJson(undone)
  else print(`Change ${undone.undoes} was undone.`)
})

/** Restores the archived values of an attribute. */
export const restoreCommand = orExplain(async (attribute: string, folder: string, { json }: ListOptions) => {
  const change = await withSameModel(folder, (model) => model.restore(attribute, {}))
  if (json === true) printJson(change)
  else print(`Archived values of ${attribute} were restored (change ${change.id}).`)
})

/** Lists all changes, including an unfinished one. */
export const historyCommand = orExplain(async (folder: string, { json }: ListOptions) => {
  const { changes, unfinished } = await lookIntoStarted(folder, async ({ database }) => ({
    changes: await listChanges(database),
    unfinished: await unfinishedChange(database),
  }))
  const undone = new Set(changes.map(({ undoes }) => undoes))
  if (json === true)
    printJson([
      ...changes.map(({ madeAt, ...change }) => ({ ...change, madeAt: formatTime(madeAt) })),
      ...(unfinished === null ? [] : [unfinishedOf(unfinished)]),
    ])
  else
    printTable(
      ['change', 'made', 'what', ''],
      [
        ...changes.map(({ id, madeAt, summary }) => [String(id), formatTime(madeAt), summary, undone.has(id) ? 'undone' : '']),
        ...(unfinished === null ? [] : [[String(unfinished.id), '', unfinished.summary, stateOf(unfinished)]]),
      ],
    )
})

const stateOf = ({ done, steps }: UnfinishedChange): string => `not finished: ${done} of ${steps.length} steps are done`

/** An unfinished change in the form of the others. */
const unfinishedOf = (change: UnfinishedChange) => {
  const { id, version, summary, undoes } = change
  return { id, version, summary, undoes, isFiled: false, madeAt: null, state: stateOf(change) }
}

function printPlan(plan: DescribedPlan, folder: string): void {
  const { changes, responses, losses, conditions, steps, gains, possibleRenames } = plan
  print(`${pluralize(changes.length, 'change')} of the model:`)
  for (const change of changes) print(`  ${Object.values(change).map(String).join(' ')}`)
  for (const sentence of responses) print(`  ${sentence}`)
  printCounted('Content that would no longer be shown, and is archived:', losses)
  printCounted('What does not satisfy the new model, and stays as it is:', conditions)
  for (const { schema, attribute, roles, tokens, administrators } of gains) {
    const all = [...roles, ...tokens, ...administrators]
    print(`  New: ${schema}${attribute === null ? '' : `.${attribute}`}, for ${['full access', ...all].join(', ')}`)
  }
  print('Steps:')
  for (const { kind, risk, rows, sql } of steps) {
    print(`  ${kind} (${risk}${rows === null ? '' : `, ${pluralize(rows, 'row')}`})`)
    for (const statement of sql) print(`    ${statement}`)
  }
  for (const rename of possibleRenames) print(`If it was renamed: ${commandLine(`model apply --rename ${renameText(rename)}`, folder)}`)
  if (losses.length > 0) print(commandLine(`model apply --agree ${losses.map(({ name }) => name).join(',')}`, folder))
}

function printCounted(title: string, contents: readonly CountedContent[]): void {
  if (contents.length === 0) return
  print(title)
  for (const { name, about, count, exact } of contents) print(`  ${name}: ${exact ? '' : 'at most '}${count}. ${about}`)
}
