// Replaces all service processes, one after the other: each by one that listens before it stops to.
import type { Logger } from 'pino'
import type { MemberEnd, ServiceMember } from './member.js'

/** The processes that are replaced. */
export interface ReplaceableMembers {
  /** Those that listen and are not being replaced. */
  serving(): readonly ServiceMember[]
  /** Those that do not listen yet. */
  starting(): readonly ServiceMember[]
  /** Starts another one and waits until it serves; otherwise resolves to how it ended. */
  add(): Promise<ServiceMember | MemberEnd>
  /** Ends one that another one has taken the place of, and waits until it has ended. */
  leave(member: ServiceMember): Promise<void>
  isStopping(): boolean
}

/** True for a process that serves. */
export const isMember = (found: ServiceMember | MemberEnd): found is ServiceMember => 'serves' in found

/** Returns what replaces the processes, and once more if it is called meanwhile: then something has changed since that began. */
export function openRollingRestart({ serving, starting, add, leave, isStopping }: ReplaceableMembers, logger: Logger): () => Promise<void> {
  let restarting: Promise<void> | null = null
  let isAskedAgain = false

  async function replaceAll(): Promise<void> {
    logger.info('the service processes are replaced, one after the other')
    // Those that are starting may have read the configuration before it changed.
    for (const member of [...serving(), ...starting()]) {
      await member.serves
      if (isStopping()) return
      // One that has ended meanwhile was replaced.
      if (!serving().includes(member)) continue
      const next = await add()
      if (isStopping()) return
      if (!isMember(next)) return logger.error({ ...next }, 'a service process could not be started; those before it serve on')
      // Where the former one has ended meanwhile, another one has taken its place.
      await leave(serving().includes(member) ? member : next)
    }
    logger.info('all service processes are replaced')
  }

  async function replaceWhileAsked(): Promise<void> {
    while (isAskedAgain && !isStopping()) {
      isAskedAgain = false
      await replaceAll()
    }
  }

  return () => {
    isAskedAgain = true
    restarting ??= replaceWhileAsked().finally(() => {
      restarting = null
    })
    return restarting
  }
}
