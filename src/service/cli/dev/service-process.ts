// The process of a service that `octavo dev` starts: `octavo start`, on a port that it shares with the process that it replaces. It loads
// its code before it is told to begin.
import { limitYoungGeneration } from '../../../foundation/runtime/gc.js'
import { leaveHangupToStarter } from '../hangup.js'
import { tellStarter } from '../processes/cluster-messages.js'
import { serve } from '../serve.js'
import type { Begin } from './messages.js'

limitYoungGeneration()
leaveHangupToStarter()

const [folder = '.'] = process.argv.slice(2)

process.once('message', ({ replaces }: Begin) => {
  const serving = (address: string): void => {
    tellStarter({ kind: 'serving', address })
    void followSchemas()
  }
  serve(folder, { replaces, isDevelopment: true, serving })
})

/** Writes the project's types again where it has them. The service goes on if that fails. */
async function followSchemas(): Promise<void> {
  const log = (level: number, msg: string): void => void process.stdout.write(`${JSON.stringify({ level, time: Date.now(), msg })}\n`)
  try {
    const { refreshTypes } = await import('./written-types.js')
    const file = await refreshTypes(folder)
    if (file !== null) log(30, `wrote ${file} again: the schemas have changed`)
  } catch (error) {
    log(40, `the types of the project cannot be written: ${(error as Error).message}`)
  }
}

tellStarter({ kind: 'loaded' })
