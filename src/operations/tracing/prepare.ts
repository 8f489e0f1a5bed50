// Prepares tracing if the process collects traces; only then is its code loaded.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import type { Tracing } from '../../foundation/runtime/tracing.js'

/** Global registration of an SDK, shared by all copies of the API in a process. */
interface Registered {
  readonly version: string
  readonly trace?: object
}

/** Minimum minor version of the registered API: copies work only with the same or a newer version. */
const leastMinor = 9

/** Null without a registered SDK, or with `tracing: false`. */
export async function prepareTracing({ tracing }: Pick<Config, 'tracing'>, version: string, logger: Logger): Promise<Tracing | null> {
  const registered = (globalThis as { readonly [key: symbol]: Registered | undefined })[Symbol.for('opentelemetry.js.api.1')]
  const isRegistered = registered?.trace !== undefined
  if (tracing === false || (tracing === null && !isRegistered)) return null
  if (isRegistered && Number(registered.version.split('.')[1]) < leastMinor)
    logger.warn(
      { version: registered.version },
      `there are no traces: they need @opentelemetry/api 1.${leastMinor} or later in this process`,
    )
  if (!isRegistered) logger.warn('there are no traces: no code of this process has registered an SDK of OpenTelemetry')
  const { openTracing } = await import('./open.js')
  return openTracing(version)
}
