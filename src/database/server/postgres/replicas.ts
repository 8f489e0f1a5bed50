// Reads on replicas: on one that has replayed everything that was visible on the primary after the request arrived, otherwise on the primary. So nobody
// notices where a read was executed.

import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { ReplicaActivity } from '../../activity.js'
import type { ReadAnswer, ReadDatabase } from '../../database.js'
import { databaseErrorClass } from '../../error-class.js'
import type { ServerReads } from '../reads.js'
import { isReplicaFailure } from './errors.js'
import type { LogPosition } from './log-position.js'
import type { RoleReads } from './reads.js'
import type { Replica } from './replica.js'

export interface ReadsWithReplicas extends ServerReads {
  /** Null: there are none. */
  replicas(): ReplicaActivity | null
}

/** The position of the primary's log that contains everything that was visible there at a moment after `since`; null: it is not known. */
export type PositionAfter = (since: number) => Promise<LogPosition | null>

const never = () => false

const ignore = () => {}

/**
 * Reads on the replicas, in turn, and on the primary where none is as recent or all that are have no room. `readTimeout`: milliseconds that a read may take,
 * wherever it is executed and whatever it waits for.
 */
export function readsWithReplicas(
  primary: RoleReads,
  replicas: readonly Replica[],
  positionAfter: PositionAfter,
  readTimeout: number,
): ReadsWithReplicas {
  if (replicas.length === 0) return { ...primary, replicas: () => null }
  const counts = { used: 0, fellBack: 0, repeated: 0 }
  let turn = 0

  const execute: ReadDatabase['execute'] = async (
    known,
    values,
    isGone = never,
    since = elapsed(),
    executing = ignore,
  ): Promise<ReadAnswer> => {
    const end = elapsed() + readTimeout
    const onPrimary = () => {
      executing('primary')
      return primary.executeBy(known, values, { isGone, end, standby: null })
    }
    const position = await positionAfter(since).catch(() => null)
    for (const _ of position === null ? [] : replicas) {
      turn = (turn + 1) % replicas.length
      const replica = replicas[turn]!
      const standby = await replica.standbyAt(position!)
      if (standby === null) continue
      try {
        executing('replica')
        const answer = await replica.execute(known, values, { isGone, end, standby })
        counts.used++
        return answer
      } catch (error) {
        if (isBusy(error)) continue
        if (isRefusal(error)) throw error
        // Not where a read conflicted with what is replayed.
        if (isReplicaFailure(error instanceof ApiError ? error.cause : error)) replica.failed()
        counts.repeated++
        return onPrimary()
      }
    }
    counts.fellBack++
    return onPrimary()
  }

  return {
    ...primary,
    execute,
    unregister: (known) => {
      primary.unregister(known)
      for (const { unregister } of replicas) unregister(known)
    },
    replicas: () => ({ reads: { ...counts }, behind: replicas.map(({ behind }) => behind()) }),
    close: async () => {
      await Promise.all([primary.close(), ...replicas.map(({ close }) => close())])
    },
  }
}

/** Whether as many reads wait for the replica as may: another server may have room. */
const isBusy = (error: unknown): boolean => databaseErrorClass(error) === 'overload'

/** Whether another server would refuse the read as well: it is too large, nobody waits for it, or its time is over. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && (error.status < 500 || error.cause === undefined)
