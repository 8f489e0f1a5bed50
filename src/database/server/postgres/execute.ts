// Runs a plan as one statement, and writes its answer from the rows of all levels.
import { LRUCache } from 'lru-cache'
import type { Signer } from '../../answer/signed-addresses.js'
import { openSink } from '../../answer/sink.js'
import { prepareAnswer, type ResultRow, type Values } from '../../answer/write.js'
import type { ReadAnswer } from '../../database.js'
import type { MemberColumn, ReadPlan, Statement } from '../../plan.js'
import { fromWallMilliseconds } from './codec.js'
import { type ComposedRead, composeRead } from './compose.js'
import { type Connection, executePrepared, type PreparedStatement } from './connection.js'
import { otherStandby } from './errors.js'

export interface PlanReader {
  /** The text of its statement. */
  readonly text: string
  /** Executes a plan's statement on a connection and writes its answer. @throws AnswerTooLarge beyond its limit */
  read(client: Connection, statement: PreparedStatement, asked: AskedRead): Promise<ReadAnswer>
}

export interface AskedRead {
  readonly values: Values
  /** Bytes of the answer at most. */
  readonly limit: number
  /** Whether the connection sees what is committed and nothing else: then a total that is known of the same snapshot is not counted. */
  readonly isCommitted: boolean
  /** The standby that is to execute it (`standby`); null: the primary. */
  readonly standby: string | null
}

/** A number of rows, and the snapshot in which there are as many. */
interface KnownTotal {
  readonly snapshot: string
  readonly total: number
}

/** Totals that are kept for one plan, and characters of the values that one belongs to. */
const [keptTotals, longestKey] = [100, 500]

/** A first room for an answer; bytes. */
const roomBytes = 16 * 1024

/** The zone of this process shows the same clock as UTC. */
const isUtc = (): boolean =>
  new Date(2024, 0, 1).getTime() === Date.UTC(2024, 0, 1) && new Date(2024, 6, 1).getTime() === Date.UTC(2024, 6, 1)

/**
 * Prepares the reader of a plan. `signer`: signs addresses of private files; null: everyone may read them. `onStandby`: its reads fail with `otherStandby` on any server but
 * the one that is asked.
 */
export function preparePlanReader(plan: ReadPlan, signer: Signer | null, onStandby = false): PlanReader {
  const composed = composeRead(plan, onStandby)
  const totals = composed.total === null ? null : new LRUCache<string, KnownTotal>({ max: keptTotals })
  let found: ReadonlyMap<Statement, readonly ResultRow[]> = new Map()
  let total: number | null = null
  const rowsOf = (statement: Statement) => () => found.get(statement) ?? []
  const write = prepareAnswer(
    {
      query: rowsOf,
      count: () => () => total!,
      page: (root) => {
        const rows = rowsOf(root.statement)
        return () => ({ rows: rows(), total })
      },
      signer: plan.unsigned === true ? null : signer,
      nullsLast: true,
    },
    plan,
  )
  const readParts = composed.parts.map(({ columns }) => partReader(columns))
  return {
    text: composed.text,
    read: async (client, statement, { values, limit, isCommitted, standby }) => {
      const key = isCommitted ? totalKey(composed, values) : null
      const known = key === null ? undefined : totals?.get(key)
      const { rows } = await executePrepared(client, statement, boundOf(composed, values, known?.snapshot ?? ''))
      const [result] = rows
      if (standby !== null && result!.at(-1) !== standby) throw otherStandby()
      // Nothing waits between these lines: the answer is written from this read.
      found = new Map(composed.parts.map(({ statement: part }, index) => [part, readParts[index]!(result![index] as string | null)]))
      const [counted, snapshot] = result!.slice(composed.parts.length) as [number | null | undefined, string | undefined]
      total = counted ?? known?.total ?? null
      if (key !== null && counted != null) totals?.set(key, { snapshot: snapshot!, total: counted })
      const sink = openSink(limit)
      const room = Buffer.allocUnsafe(roomBytes)
      sink.begin(room)
      try {
        if (!write(values, sink)) return null
      } finally {
        found = new Map()
      }
      const { length, own } = sink.end()
      return { bytes: own ?? room.subarray(0, length), release: () => {} }
    },
  }
}

/** The values that the total depends on, as a text; null: the total is not kept. */
function totalKey({ total }: ComposedRead, values: Values): string | null {
  if (total === null || total.values === null) return null
  const key = JSON.stringify(total.values.map((index) => values[index]))
  return key.length <= longestKey ? key : null
}

/** The values that a statement is executed with. `snapshot`: the one of which the total is known; empty: it is not. */
const boundOf = ({ parameters }: ComposedRead, values: Values, snapshot: string): readonly unknown[] =>
  parameters.map((parameter) => {
    if (parameter.from === 'snapshot') return snapshot
    return parameter.from === 'constant' ? parameter.value : values[parameter.index]
  })

interface Convertor {
  readonly at: number
  readonly convert: (value: unknown) => unknown
}

/** Reads the rows of one level from their JSON: what JSON has no form for gets the stored form that answers are written from. */
function partReader(columns: readonly MemberColumn[]): (text: string | null) => readonly ResultRow[] {
  const convertors = columns.flatMap(({ at, answer }): Convertor[] => {
    if (answer === 'json') return [{ at, convert: JSON.stringify }]
    const isMoment = answer === 'datetime' || answer === 'timestamp'
    return isMoment && !isUtc() ? [{ at, convert: (value) => fromWallMilliseconds(value as number) }] : []
  })
  return (text) => {
    if (text === null) return []
    const rows = JSON.parse(text) as unknown[][]
    if (convertors.length === 0) return rows
    for (const row of rows) for (const { at, convert } of convertors) if (row[at] !== null) row[at] = convert(row[at])
    return rows
  }
}
