// A picture process: works on one picture after the other, behind everything else on the machine. What comes from outside is
// decoded here, so that a decoder that fails, or needs more than it may, takes no service with it.
import { getPriority, setPriority } from 'node:os'
import type { FromImageProcess, ToImageProcess } from './protocol.js'

/** Steps behind the service. Threads that are started later inherit it: those of the picture library too. */
const behind = 10
try {
  setPriority(Math.min(19, getPriority() + behind))
} catch {
  // Where that is not allowed, pictures are worked on like everything else.
}
const send = (message: FromImageProcess): void => void process.send!(message)

const { processImage: makePicture } = await import('./work.js').catch((error: Error) => {
  process.send!({ kind: 'unstarted', message: error.message } satisfies FromImageProcess, () => process.exit(1))
  return new Promise<never>(() => {})
})
send({ kind: 'ready' })

// The service says when it is over; a signal to both at once is not meant for this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

/** Milliseconds between two looks at what the work has needed so far. */
const look = 50

/** Says so when a picture needs more memory or processor time than it may. Most systems hold the memory themselves, too. */
function watchNeeds({ bytes, bounds }: ToImageProcess): NodeJS.Timeout {
  const before = process.cpuUsage()
  const watching = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    // Of the file itself a decoder may have every page in sight.
    if ((user + system) / 1_000 <= bounds.imageWork && process.memoryUsage.rss() <= bounds.imageMemory + bytes) return
    clearInterval(watching)
    send({ kind: 'beyond' })
  }, look)
  return watching
}

process.on('message', async (message: ToImageProcess) => {
  const watching = watchNeeds(message)
  try {
    send(await makePicture(message, send))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    send({ kind: 'failed', code, message })
  } finally {
    clearInterval(watching)
  }
})
