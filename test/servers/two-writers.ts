// Two writers that increment a document each, and concurrent readers of both documents: reads that lack a write, and reads that saw the
// writes in opposite orders.
import { until } from '../support/until.js'
import type { NotesService } from './notes-service.js'

/** A read of both documents. */
export interface PairRead {
  readonly at: NotesService
  /** The number that each document showed. */
  readonly values: readonly number[]
}

export interface PairsSeen {
  readonly reads: readonly PairRead[]
  /** Reads that lack a write acknowledged or shown by the primary before they began, or that show a text that was never sent. */
  readonly wrong: readonly string[]
}

interface Pairs {
  /** The writer of each document. */
  readonly writers: readonly [NotesService, NotesService]
  /** The first one is known to read on the primary. */
  readonly readers: readonly NotesService[]
  readonly notes: readonly [string, string]
  /** True once the minimum number of reads is enough. Default: at once. */
  isEnough?(): Promise<boolean>
}

/** Minimum numbers of all reads, and of the reads of each reader. */
const [minReads, minReadsOfEach] = [400, 40]

/** Milliseconds for that, on any machine. */
const timeoutMs = 240_000

/** Writes and reads until there are enough reads. */
export async function watchPairs({ writers, readers, notes, isEnough = async () => true }: Pairs): Promise<PairsSeen> {
  const reads: PairRead[] = []
  const wrong: string[] = []
  /** By document: the texts sent, and the minimum that reads from now on must contain. */
  const [sent, least] = [
    [0, 0],
    [0, 0],
  ]
  let isOver = false

  async function count(document: number): Promise<void> {
    while (!isOver) {
      const value = ++sent[document]!
      const { status, text } = await writers[document]!.send('PUT', `/api/notes/${notes[document]}`, { text: String(value) })
      if (status !== 200) wrong.push(`write of ${value}: ${status} ${text}`)
      else least[document] = Math.max(least[document]!, value)
    }
  }

  const counts = readers.map(() => 0)
  async function read(at: NotesService, reader: number): Promise<void> {
    while (!isOver) {
      const before = [...least]
      const { body } = await at.request(
        `/api/notes?sort=id&${notes.map((note, index) => `filters[documentId][$in][${index}]=${note}`).join('&')}`,
      )
      const values: number[] = body.data.map(({ text }: { readonly text: string }) => Number(text))
      const isTrue = values.every((value, document) => value >= before[document]! && value <= sent[document]!)
      if (!isTrue) wrong.push(`${values} was read, between ${before} and ${sent} expected`)
      if (at === readers[0]) for (const document of [0, 1]) least[document] = Math.max(least[document]!, values[document]!)
      reads.push({ at, values })
      counts[reader]!++
    }
  }

  await Promise.all([0, 1].map((document) => writers[document]!.send('PUT', `/api/notes/${notes[document]}`, { text: '0' })))
  const running = [count(0), count(1), ...readers.map(read)]
  try {
    await until(
      () => `${counts} reads`,
      async () => {
        if (wrong.length > 0) return true
        return reads.length >= minReads && Math.min(...counts) >= minReadsOfEach && (await isEnough())
      },
      timeoutMs,
    )
  } finally {
    isOver = true
    await Promise.all(running)
  }
  return { reads, wrong }
}

/** Two reads that each show a write missing in the other, if there are any. */
export function contradictory(reads: readonly PairRead[]): readonly (readonly number[])[] {
  // In the order of the first document, the second one never goes down.
  const sorted = reads.map(({ values }) => values).sort(([a, b], [c, d]) => a! - c! || b! - d!)
  const at = sorted.findIndex((values, index) => index > 0 && values[1]! < sorted[index - 1]![1]!)
  return at < 0 ? [] : [sorted[at - 1]!, sorted[at]!]
}
