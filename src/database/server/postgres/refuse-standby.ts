// A connection that reached a standby is not used: after a failover a balancer, or a name, may lead to a server that only follows the
// primary, and may be behind it.
import type pg from 'pg'
import { codeOf, onStandby, timeoutOf } from './errors.js'

/** Milliseconds for the server to say what it is. */
const patience = 3_000

/** Looks whether a new connection reached a primary. @throws Error with the code `onStandby` where it did not; it is cut then */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const look = { text: 'select pg_is_in_recovery()', rowMode: 'array', query_timeout: patience } as const
  try {
    const { rows } = await client.query<[boolean]>(look as never)
    if (rows[0]![0]) throw Object.assign(new Error('The server is a standby'), { code: onStandby })
  } catch (error) {
    // Saying goodbye would wait for an end that does not answer.
    const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    connection.stream.destroy()
    throw error instanceof Error && codeOf(error) === '' ? timeoutOf(error) : error
  }
}
