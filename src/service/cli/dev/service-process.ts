// A service process of `octavo dev`, on a port shared with its predecessor. It loads its code, then waits for the message to begin.

import { limitYoungGeneration } from '../../../foundation/runtime/gc.js'
import { tellStarter } from '../processes/workers.js'
import { serve } from '../serve.js'
import { leaveHangupToStarter } from '../signals.js'
import { refreshTypes } from '../types.js'

export interface BeginMessage {
  readonly kind: 'begin'
  /** The process to be replaced still listens on the same port. */
  readonly replaces: boolean
}

limitYoungGeneration()
leaveHangupToStarter()

const [folder = '.'] = process.argv.slice(2)

process.once('message', ({ replaces }: BeginMessage) => {
  const serving = (address: string): void => {
    tellStarter({ kind: 'serving', address })
    void followSchemas()
  }
  serve(folder, { replaces, isDevelopment: true, serving })
})

/** Updates the project's types if it has them. Failures do not affect the service. */
async function followSchemas(): Promise<void> {
  const log = (level: number, msg: string): void => void process.stdout.write(`${JSON.stringify({ level, time: Date.now(), msg })}\n`)
  try {
    const file = await refreshTypes(folder)
    if (file !== null) log(30, `wrote ${file} again: the schemas have changed`)
  } catch (error) {
    log(40, `the types of the project cannot be written: ${(error as Error).message}`)
  }
}

tellStarter({ kind: 'loaded' })
