// Copies a database to another of any kind, keeping ids, in resumable batches that are verified at the end. Values that the target cannot
// hold are refused before anything is written.
import { ConfigError } from '../../foundation/errors/errors.js'
import { keyGetter, readBatches } from './row-batches.js'
import {
  type CopiedRow,
  type CopyProgress,
  createChecksum,
  type RowReference,
  type RowSource,
  type RowTable,
  type RowTarget,
  type RowValue,
} from './rows.js'

export interface CopyReport {
  readonly phase: 'check' | 'copy' | 'verify'
  readonly table: string
  readonly done: number
  readonly total: number
}

export interface CopyOptions {
  /** Receives a sentence for each value that is rounded, truncated or nulled to fit; null: such values are refused. */
  readonly onAdapted: ((sentence: string) => void) | null
  /** Deletes the target's rows first. */
  readonly overwrite: boolean
  report(progress: CopyReport): void
}

export interface CopyResult {
  readonly tables: number
  readonly rows: number
  readonly adapted: number
  /** Tables and columns that the target lacks: `old_table (7 rows)`, `articles.old`. */
  readonly omitted: readonly string[]
  readonly resumed: boolean
}

/** Maximum number of problems listed in an error. */
const maxNamed = 20

/** A table in both databases, with the same columns in the same order. */
interface TablePair {
  readonly from: RowTable
  readonly to: RowTable
  readonly rows: number
}

interface Plan {
  readonly pairs: readonly TablePair[]
  readonly omitted: readonly string[]
}

/** Matches tables by name. Empty tables are not reported as omitted. */
async function createPlan(source: RowSource, target: RowTarget): Promise<Plan> {
  const targets = new Map((await target.tables()).map((table) => [table.name, table]))
  const pairs: TablePair[] = []
  const omitted: string[] = []
  for (const table of await source.tables()) {
    const rows = await source.count(table)
    const to = targets.get(table.name)
    if (to === undefined) {
      if (rows > 0) omitted.push(`${table.name} (${rows} rows)`)
      continue
    }
    const there = new Map(to.columns.map((column) => [column.name, column]))
    const columns = table.columns.filter(({ name }) => there.has(name))
    if (rows > 0) omitted.push(...table.columns.filter(({ name }) => !there.has(name)).map(({ name }) => `${table.name}.${name}`))
    pairs.push({ from: { ...table, columns }, to: { ...to, columns: columns.map(({ name }) => there.get(name)!) }, rows })
  }
  return { pairs, omitted }
}

/** Coerces rows to a target table; null: the row is dropped because its reference is dangling. `note` receives every difference. */
type RowFitter = (row: CopiedRow, note?: (sentence: string) => void) => CopiedRow | null

/** Keys (as JSON) of rows with dangling references, by table. */
type Missing = ReadonlyMap<string, readonly { readonly reference: RowReference; readonly keys: ReadonlySet<string> }[]>

const formatValue = (value: RowValue): string => {
  const text = value instanceof Uint8Array ? `${value.length} bytes` : typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function rowFitterFor(target: RowTarget, { from, to }: TablePair, missing: Missing): RowFitter {
  const fitters = to.columns.map((column) => target.coercion(column))
  const key = keyGetter(from)
  const references = (missing.get(from.name) ?? []).map((each) => ({
    ...each,
    position: to.columns.findIndex(({ name }) => name === each.reference.column),
  }))
  return (row, note) => {
    const id = key(row)
    const where = (column: string) => `${from.name} ${id.join(', ')}, ${column}`
    const fitted = row.map((given, index) => {
      const { value, problem } = fitters[index]!(given)
      if (problem !== undefined) note?.(`${where(to.columns[index]!.name)}: ${formatValue(given)} ${problem}`)
      return value
    })
    const text = JSON.stringify(id)
    for (const { reference, keys, position } of references) {
      if (!keys.has(text)) continue
      note?.(
        `${where(reference.column)}: there is no row of ${reference.to.table} with the ${reference.to.column} ${formatValue(row[position]!)}`,
      )
      if (reference.cascades) return null
      fitted[position] = null
    }
    return fitted
  }
}

async function findMissing(source: RowSource, { pairs }: Plan, references: readonly RowReference[]): Promise<Missing> {
  const byTable = new Map<string, { reference: RowReference; keys: ReadonlySet<string> }[]>()
  const tables = new Map(pairs.map(({ from }) => [from.name, from]))
  for (const reference of references) {
    const table = tables.get(reference.table)
    const has = (name: string, column: string) => tables.get(name)?.columns.some((each) => each.name === column) === true
    if (table === undefined || !has(reference.table, reference.column) || !has(reference.to.table, reference.to.column)) continue
    const keys = await source.missingTargets(table, reference)
    if (keys.length === 0) continue
    const noted = byTable.get(table.name) ?? []
    byTable.set(table.name, noted)
    noted.push({ reference, keys: new Set(keys.map((key) => JSON.stringify(key))) })
  }
  return byTable
}

interface CheckedSource {
  /** Expected checksums of the target's tables. */
  readonly expected: ReadonlyMap<string, string>
  readonly problems: readonly string[]
  readonly count: number
}

/** Reads the whole source to find values that do not fit, and computes the expected checksums. */
async function check(
  source: RowSource,
  plan: Plan,
  fitters: ReadonlyMap<TablePair, RowFitter>,
  { onAdapted: adapted, report }: CopyOptions,
): Promise<CheckedSource> {
  const expected = new Map<string, string>()
  const problems: string[] = []
  let count = 0
  const note = (sentence: string) => {
    count++
    adapted?.(sentence)
    if (problems.length < maxNamed) problems.push(sentence)
  }
  for (const pair of plan.pairs) {
    const sum = createChecksum(pair.to.columns)
    let done = 0
    for await (const rows of readBatches(source, pair.from)) {
      for (const row of rows) {
        const fitted = fitters.get(pair)!(row, note)
        if (fitted !== null) sum.add(fitted)
      }
      done += rows.length
      report({ phase: 'check', table: pair.from.name, done, total: pair.rows })
    }
    expected.set(pair.from.name, sum.result)
  }
  return { expected, problems, count }
}

/** A table to copy. `deferred`: columns that reference rows copied later; they are set once all rows exist. */
interface CopyStep {
  readonly pair: TablePair
  readonly deferred: readonly string[]
}

/** Orders tables after those they reference, if possible. */
function orderTables({ pairs }: Plan, references: readonly RowReference[]): readonly CopyStep[] {
  const waiting = new Map(pairs.map((pair) => [pair.to.name, pair]))
  const steps: CopyStep[] = []
  const openOf = (pair: TablePair) => references.filter(({ table, to }) => table === pair.to.name && waiting.has(to.table))
  while (waiting.size > 0) {
    const rest = [...waiting.values()]
    const others = (pair: TablePair) => openOf(pair).filter(({ to }) => to.table !== pair.to.name).length
    const pair = rest.find((each) => others(each) === 0) ?? rest[0]!
    steps.push({ pair, deferred: [...new Set(openOf(pair).map(({ column }) => column))] })
    waiting.delete(pair.to.name)
  }
  return steps
}

interface CopyContext {
  readonly source: RowSource
  readonly target: RowTarget
  readonly fitters: ReadonlyMap<TablePair, RowFitter>
  readonly options: CopyOptions
  /** The last key of each part of an interrupted copy. */
  readonly reached: ReadonlyMap<string, CopiedRow>
}

async function namingTable<Result>(table: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw new ConfigError(`A row of ${table} could not be copied: ${(error as Error).message}`)
  }
}

async function write({ pair, deferred }: CopyStep, { source, target, fitters, options, reached }: CopyContext): Promise<void> {
  const { from, to, rows: total } = pair
  const positions = new Set(deferred.map((name) => to.columns.findIndex((column) => column.name === name)))
  const key = keyGetter(from)
  const after = reached.get(from.name) ?? null
  let done = 0
  // The next batch is read and coerced while the current one is written.
  let writing: Promise<void> = Promise.resolve()
  const insert = async (rows: readonly CopiedRow[], fitted: readonly CopiedRow[]): Promise<void> => {
    const progress: CopyProgress = { part: from.name, source: source.name, last: key(rows.at(-1)!) }
    await namingTable(from.name, target.insert(to, fitted, progress))
    done += rows.length
    options.report({ phase: 'copy', table: from.name, done, total })
  }
  for await (const rows of readBatches(source, from, after)) {
    const fitted = rows.flatMap((row) => {
      const each = fitters.get(pair)!(row)
      return each === null ? [] : [positions.size === 0 ? each : each.map((value, index) => (positions.has(index) ? null : value))]
    })
    await writing
    writing = insert(rows, fitted)
    writing.catch(() => {})
  }
  await writing
}

async function writeDeferred({ pair, deferred }: CopyStep, { source, target, fitters, reached }: CopyContext): Promise<void> {
  const { from, to } = pair
  if (deferred.length === 0) return
  const names = new Set([...to.key, ...deferred])
  const positions = to.columns.flatMap(({ name }, index) => (names.has(name) ? [index] : []))
  const part = `${from.name} late`
  const key = keyGetter(from)
  const deferredOnly = to.columns.flatMap(({ name }, index) => (deferred.includes(name) ? [index] : []))
  for await (const rows of readBatches(source, from, reached.get(part) ?? null)) {
    const fitted = rows.flatMap((row) => {
      const each = fitters.get(pair)!(row)
      return each === null || deferredOnly.every((position) => each[position] === null)
        ? []
        : [positions.map((position) => each[position]!)]
    })
    const table = { ...to, columns: positions.map((position) => to.columns[position]!) }
    await namingTable(from.name, target.update(table, fitted, { part, source: source.name, last: key(rows.at(-1)!) }))
  }
}

/** Compares the target's checksums with the expected ones. @throws ConfigError that names the differing tables */
async function verify(target: RowTarget, plan: Plan, expected: ReadonlyMap<string, string>, { report }: CopyOptions): Promise<void> {
  const wrong: string[] = []
  for (const { to, rows: total } of plan.pairs) {
    const sum = createChecksum(to.columns)
    let done = 0
    for await (const rows of readBatches(target, to)) {
      for (const row of rows) sum.add(row)
      done += rows.length
      report({ phase: 'verify', table: to.name, done, total })
    }
    if (sum.result !== expected.get(to.name)) wrong.push(`${to.name} (${sum.result}; expected ${expected.get(to.name)})`)
  }
  if (wrong.length > 0)
    throw new ConfigError(
      `The copy differs from its source: ${wrong.join(', ')}. Stop everything that writes to either of them, and copy again with --overwrite`,
    )
}

/** The last keys of an interrupted copy; null to start a new one. @throws ConfigError if the target contains anything else */
async function readProgress(source: RowSource, target: RowTarget, overwrite: boolean): Promise<ReadonlyMap<string, CopiedRow> | null> {
  const progress = await target.progress()
  if (progress?.every((each) => each.source === source.name)) return new Map(progress.map(({ part, last }) => [part, last]))
  if (overwrite) return null
  if (progress !== null)
    throw new ConfigError(`${target.name} has an unfinished copy of ${progress[0]!.source}. Finish it, or start again with --overwrite`)
  for (const table of await target.tables())
    if ((await target.count(table)) > 0)
      throw new ConfigError(`${target.name} is not empty: it has rows in ${table.name}. To remove all its rows first: --overwrite`)
  return null
}

/**
 * Copies all rows of the tables that both databases have. Neither should be written to during the copy.
 * @throws ConfigError if the target is not empty or cannot hold some values, or if the copy differs from its source
 */
export async function copyDatabase(source: RowSource, target: RowTarget, options: CopyOptions): Promise<CopyResult> {
  const reached = await readProgress(source, target, options.overwrite)
  const plan = await createPlan(source, target)
  const references = await target.references()
  const missing = await findMissing(source, plan, references)
  const fitters = new Map(plan.pairs.map((pair) => [pair, rowFitterFor(target, pair, missing)]))
  const { expected, problems, count } = await check(source, plan, fitters, options)
  if (count > 0 && options.onAdapted === null)
    throw new ConfigError(
      [
        `${target.name} cannot hold ${count} values as they are. Change them, or let them be changed with --adapt:`,
        ...problems.map((problem) => `  ${problem}`),
        ...(count > problems.length ? [`  … and ${count - problems.length} more`] : []),
      ].join('\n'),
    )
  if (reached === null) await target.clear(await target.tables())
  await writeAll(source, target, { plan, references, fitters, reached: reached ?? new Map(), options })
  await verify(target, plan, expected, options)
  await target.finish(await source.lastNumbers())
  return {
    tables: plan.pairs.length,
    rows: plan.pairs.reduce((sum, { rows }) => sum + rows, 0),
    adapted: count,
    omitted: plan.omitted,
    resumed: reached !== null,
  }
}

async function writeAll(
  source: RowSource,
  target: RowTarget,
  {
    plan,
    references,
    ...rest
  }: Omit<CopyContext, 'source' | 'target'> & { readonly plan: Plan; readonly references: readonly RowReference[] },
): Promise<void> {
  const steps = orderTables(plan, references)
  const writing = { source, target, ...rest }
  for (const step of steps) await write(step, writing)
  for (const step of steps) await writeDeferred(step, writing)
}

/** Copies rows into newly created tables. @throws ConfigError if the target cannot hold a value unchanged */
export async function copyFirstRows(source: RowSource, target: RowTarget): Promise<void> {
  const plan = await createPlan(source, target)
  const references = await target.references()
  const refuse = (sentence: string) => {
    throw new ConfigError(`The database cannot hold a value of the first content: ${sentence}`)
  }
  const fitters = plan.pairs.map((pair): [TablePair, RowFitter] => {
    const fit = rowFitterFor(target, pair, new Map())
    return [pair, (row) => fit(row, refuse)]
  })
  const options: CopyOptions = { onAdapted: null, overwrite: false, report: () => {} }
  await writeAll(source, target, { plan, references, fitters: new Map(fitters), reached: new Map(), options })
  await target.finish(await source.lastNumbers())
}
