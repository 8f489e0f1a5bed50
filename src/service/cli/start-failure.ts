// Why a start has failed, as one sentence for the operator.
import { ConfigError } from '../../foundation/errors/errors.js'
import { describeNativeModule } from '../../foundation/errors/native-module.js'
import { describePortProblem } from '../../foundation/errors/port-problem.js'

/** Turns any failure of a start into one sentence; at log level debug, its stack is printed before. */
export function startFailure(error: unknown): ConfigError {
  if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack ?? String(error)}\n`)
  return new ConfigError(describeNativeModule(error) ?? describePortProblem(error as NodeJS.ErrnoException, { port: 'PORT', host: 'HOST' }))
}
