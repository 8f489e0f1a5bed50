// Who sends a request, as code of the project and the log know it.
import type { Caller } from '../access/identify.js'
import type { Asker } from '../documents/read/around.js'

/** The caller of a request, without its grants. */
export function askerOf(caller: Caller, requestId: string): Asker {
  const { kind } = caller
  return { caller: kind === 'public' ? { kind } : { kind, id: caller.id }, requestId }
}

/** The name of a caller in the log, such as `user 7`. */
export const nameOf = ({ caller }: Asker): string => (caller.kind === 'public' ? caller.kind : `${caller.kind} ${caller.id}`)
