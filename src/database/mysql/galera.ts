// Servers that Galera joins: what is written on one of them is on all, but locks hold on one alone.
import type { MysqlQueryable } from './catalog.js'

/** Whether the server is a node of a Galera cluster. */
export async function isGaleraNode(client: MysqlQueryable): Promise<boolean> {
  const { rows } = await client.query("show variables like 'wsrep_on'")
  return rows[0]?.[1] === 'ON'
}
