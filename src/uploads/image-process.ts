// The picture process: does what it is told with one picture after the other, behind everything else on the machine. What
// comes from outside is decoded here, so that a decoder that fails takes no service with it.
import { getPriority, setPriority } from 'node:os'
import type { FromPictures, ToPictures } from './image-messages.js'

/** Steps behind the service. Threads that are started later inherit it: those of the picture library too. */
const behind = 10
try {
  setPriority(Math.min(19, getPriority() + behind))
} catch {
  // Where that is not allowed, pictures are worked on like everything else.
}
const { makePicture } = await import('./image-work.js')

// The service says when it is over; a signal to both at once is not meant for this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

const send = (message: FromPictures): void => void process.send!(message)

process.on('message', async ({ id, path, mime, settings, bounds }: ToPictures) => {
  try {
    send({ id, kind: 'made', picture: await makePicture(path, mime, settings, bounds) })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    send({ id, kind: 'failed', code, message })
  }
})
