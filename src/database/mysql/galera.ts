// Servers that Galera joins: what is written on one of them is on all, but locks hold on one alone.
import type { MysqlQueryable } from './catalog.js'

/** Whether the server is a node of a Galera cluster. */
export async function isGaleraNode(client: MysqlQueryable): Promise<boolean> {
  const { rows } = await client.query("show variables like 'wsrep_on'")
  return rows[0]?.[1] === 'ON'
}

/** What is read or begun waits until the node has what the others have committed. */
const causality = 'set session wsrep_sync_wait = 7'

/** Opens what gives a connection its statements that make it wait so; the server is asked once whether it is a node of a cluster. */
export function openCausality(): (client: MysqlQueryable) => Promise<readonly string[]> {
  let isNode: boolean | null = null
  return async (client) => {
    isNode ??= await isGaleraNode(client)
    return isNode ? [causality] : []
  }
}
