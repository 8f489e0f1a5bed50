// One of several processes that `octavo start --processes` serves a project with. It loads its code before it is told to begin.
import type { Config } from '../../../foundation/config/config.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { limitYoungGeneration } from '../../../foundation/runtime/gc.js'
import { askBeforeLeavingPort } from '../../../foundation/runtime/shared-port.js'
import { leaveHangupToStarter } from '../hangup.js'
import { serve } from '../serve.js'
import type { Shutdown } from '../shutdown.js'
import { tellStarter } from './cluster-messages.js'
import type { BeginServing, EndServing, LeavePort, LeavingPort } from './messages.js'

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

/** Serves where the main process says. */
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

/** Ends as after a signal. Terminals and service managers may have sent one to every process, so this is no second one. */
function end({ waits, isReplaced }: EndServing): void {
  if (shutdown === null) process.exit(0)
  else shutdown.end(waits, isReplaced)
}

tellStarter({ kind: 'loaded' })
