// One action on many documents: in batches, one after the other, with progress, failures, and a way to stop.

/** A document of an action, with its name for the list of failures. */
export interface BulkDocument {
  readonly documentId: string
  readonly name: string
}

/** An error of a document, with its path if it is about a value. */
export interface BulkError {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A document that was left unchanged. */
export interface BulkFailure extends BulkDocument {
  readonly locale: string | null
  readonly errors: readonly BulkError[]
}

/** Progress of an action. */
export interface BulkProgress {
  readonly done: number
  readonly failures: readonly BulkFailure[]
  /** The service cannot be reached; the action goes on when it can. */
  readonly isWaiting: boolean
  /** It ended before the last document. */
  readonly isStopped: boolean
}

/** Progress at the start. */
export const noProgress: BulkProgress = { done: 0, failures: [], isWaiting: false, isStopped: false }

/** An action on many documents. */
interface BulkRun {
  /** The documents, in batches of any size. */
  readonly documents: AsyncIterable<readonly BulkDocument[]>
  /** Acts on some documents; the key makes a repeated request harmless. */
  readonly act: (batch: readonly BulkDocument[], key: string) => Promise<readonly BulkFailure[]>
  /** Number of documents in each call of `act`; a call that is stopped counts none of them. */
  readonly size: number
  /** True for errors after which the same request is sent again. */
  readonly isAway: (error: unknown) => boolean
  readonly onProgress: (progress: BulkProgress) => void
  readonly signal: AbortSignal
}

/** Documents of one request: few enough for steady progress; the service takes 500. */
export const batchSize = 50

/** Milliseconds before a request is repeated. */
const retryAfter = 2000

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })

/** A random key of a request. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Carries out an action until the documents end or it is stopped. @throws what `act` throws, unless the service is away */
export async function runBulk({ documents, act, size, isAway, onProgress, signal }: BulkRun): Promise<BulkProgress> {
  let progress = noProgress
  const report = (change: Partial<BulkProgress>) => {
    progress = { ...progress, ...change }
    onProgress(progress)
  }
  const send = async (batch: readonly BulkDocument[]) => {
    const key = randomKey()
    while (!signal.aborted) {
      try {
        return await act(batch, key)
      } catch (error) {
        if (!isAway(error)) throw error
        report({ isWaiting: true })
        await wait(retryAfter, signal)
      }
    }
    return null
  }
  for await (const some of documents) {
    for (let start = 0; start < some.length; start += size) {
      const batch = some.slice(start, start + size)
      const failures = signal.aborted ? null : await send(batch)
      if (failures === null) return { ...progress, isStopped: true }
      report({ done: progress.done + batch.length, failures: [...progress.failures, ...failures], isWaiting: false })
    }
  }
  return progress
}
