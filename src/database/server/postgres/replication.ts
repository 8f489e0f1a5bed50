// Whether standbys have what was committed. Where commits wait for standbys (`synchronous_standby_names`), one that is told to end, or whose
// connection is lost, is done on the primary alone: the server warns, and says that it has committed.
import type pg from 'pg'

/** What the server calls its function that waits for standbys, in every language. */
const waitingFunction = 'SyncRepWaitForLSN'

const unconfirmed = new WeakSet<pg.ClientBase>()

/** Notes on which connections a commit did not wait for its standbys. */
export function watchReplication(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitingFunction) unconfirmed.add(client)
  })
}

/** Whether a commit on the connection did not wait for its standbys. The connection is not used for another. */
export const isUnconfirmed = (client: pg.ClientBase): boolean => unconfirmed.has(client)

/**
 * Waits until standbys have what was committed on the primary so far, as long as the server waits for any: what is committed here comes
 * after all of it, and is nothing that anybody sees. @throws where they have not
 */
export async function confirmReplication(client: pg.PoolClient): Promise<void> {
  await client.query("select from pg_logical_emit_message(true, 'octavo', '')")
  if (isUnconfirmed(client)) throw new Error('No standby has confirmed what was committed')
}
