// Processes one image at a time with low priority. A decoder that crashes or exceeds its limits does not affect the service.
import { getPriority, setPriority } from 'node:os'
import type { FromImageProcess, ToImageProcess } from './protocol.js'

/** Priority below the service. Threads started later inherit it, including those of the image library. */
const niceness = 10
try {
  setPriority(Math.min(19, getPriority() + niceness))
} catch {
  // Keeps normal priority without permission to change it.
}
const send = (message: FromImageProcess): void => void process.send!(message)

const { processImage } = await import('./work.js').catch((error: Error) => {
  process.send!({ kind: 'unstarted', message: error.message } satisfies FromImageProcess, () => process.exit(1))
  return new Promise<never>(() => {})
})
send({ kind: 'ready' })

// The service stops this process, so signals to the process group are ignored.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

/** Milliseconds between checks of resource usage. */
const checkInterval = 50

/** Reports an image that exceeds its memory or CPU time. Most systems also enforce the memory limit themselves. */
function watchResources({ bytes, bounds }: ToImageProcess): NodeJS.Timeout {
  const before = process.cpuUsage()
  const watching = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    // A decoder may map the whole file into memory, so its size is added.
    if ((user + system) / 1_000 <= bounds.imageCpuTime && process.memoryUsage.rss() <= bounds.imageMemory + bytes) return
    clearInterval(watching)
    send({ kind: 'beyond' })
  }, checkInterval)
  return watching
}

process.on('message', async (message: ToImageProcess) => {
  const watching = watchResources(message)
  try {
    send(await processImage(message, send))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    send({ kind: 'failed', code, message })
  } finally {
    clearInterval(watching)
  }
})
