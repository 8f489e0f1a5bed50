// One of the service processes of `octavo start --processes`. It loads its code before the main process lets it begin.
import type { Config } from '../../../foundation/config/config.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { limitYoungGeneration } from '../../../foundation/runtime/gc.js'
import { askBeforeLeavingPort } from '../../../foundation/runtime/shutdown.js'
import { serve } from '../serve.js'
import type { Shutdown } from '../shutdown.js'
import { leaveHangupToStarter } from '../signals.js'
import { type BeginServing, type EndServing, type LeavePort, type LeavingPort, tellStarter } from './workers.js'

limitYoungGeneration()
leaveHangupToStarter()

const [folder = '.'] = process.argv.slice(2)
let shutdown: Shutdown | null = null
let mayLeave = (): void => {}
/** Milliseconds for the main process to pass on its connections. */
const leavingTime = 2_000

process.on('message', (message: BeginServing | EndServing | LeavePort) => {
  if (message.kind === 'begin') begin(message)
  else if (message.kind === 'end') end(message)
  else if (message.kind === 'leave') mayLeave()
})

askBeforeLeavingPort(async () => {
  const allowed = new Promise<void>((resolve) => {
    mayLeave = resolve
  })
  process.send?.({ kind: 'leaving' } satisfies LeavingPort)
  await Promise.race([allowed, pause(leavingTime)])
})

/** Serves on the main process's address. */
function begin({ isFirst, allowsNew, host, port, isManaged }: BeginServing): void {
  const management = isManaged ? ({ host, port: 0, token: null, isRequired: false, askedBy: 'main' } as const) : null
  serve(folder, {
    new: allowsNew,
    replaces: !isFirst,
    configured: (loaded: Config): Config => ({ ...loaded, host, port, management }),
    watched: (opened) => {
      shutdown = opened
    },
    serving: (address) => tellStarter({ kind: 'serving', address }),
  })
}

/** Ends like after a signal. Terminals and service managers may signal every process, so this does not count as a second signal. */
function end({ waits, isReplaced }: EndServing): void {
  if (shutdown === null) process.exit(0)
  else shutdown.end(waits, isReplaced)
}

tellStarter({ kind: 'loaded' })
