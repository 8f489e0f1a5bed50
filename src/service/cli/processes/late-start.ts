// Ends a service process that does not serve in time, so that a rolling restart does not wait for it without end.
import type { Logger } from 'pino'
import type { ServiceMember } from './member.js'

/** Milliseconds for such a process to end by itself. It serves nobody. */
const endTime = 2_000

/** Ends a process that does not serve within so many milliseconds. Returns a function that is true until the process is ended for it. */
export function endWhereLate(member: ServiceMember, milliseconds: number, logger: Logger): () => boolean {
  let isLate = false
  const ending = setTimeout(() => {
    isLate = true
    logger.error({ pid: member.pid, milliseconds }, 'a service process does not serve in time (limits.processStart); it is ended')
    member.end({ waits: false, isReplaced: false }, endTime)
  }, milliseconds)
  void member.serves.then(() => clearTimeout(ending))
  return () => !isLate
}
