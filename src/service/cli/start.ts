// `octavo start [folder]`: serves a project, in this process or in several others.
import { loadConfig } from '../../foundation/config/config.js'
import { processOption } from '../../foundation/config/network.js'
import { orExplain, startFailure } from './explain-error.js'
import { type Hangup, watchHangup } from './signals.js'

interface StartOptions {
  /** Starts with an empty database although the project had one. */
  readonly new?: boolean
  /** Number of service processes; overrides the configuration. */
  readonly processes?: string
}

/** Serves the project until a signal stops the process. */
export async function start(folder: string, options: StartOptions = {}): Promise<void> {
  const hangup = watchHangup()
  await orExplain(begin)(folder, options, hangup)
  // Open handles of the project's configuration may keep the process alive.
  if (process.exitCode !== undefined) process.exit()
}

async function begin(folder: string, options: StartOptions, hangup: Hangup): Promise<void> {
  // Inherited by the service processes.
  if (options.processes !== undefined) process.env.OCTAVO_PROCESSES = String(processOption(options.processes))
  const config = await loadConfig(folder).catch((error) => {
    throw startFailure(error)
  })
  const { new: allowsNew = false } = options
  if (config.processes > 1) return (await import('./processes/main-process.js')).serveTogether(folder, config, { allowsNew, hangup })
  return (await import('./serve.js')).serve(folder, { config, new: allowsNew, hangup })
}
