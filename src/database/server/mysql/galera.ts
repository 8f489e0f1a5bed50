// Servers that Galera joins: what is written on one of them is on all, but locks hold on one alone.

/** The variable that is `ON` where the server is a node of a Galera cluster. Servers without Galera may not have it. */
export const nodeVariable = 'wsrep_on'

/** A connection to a node executes this first: its statements wait until the node has what the others have committed. */
export const causality = 'set session wsrep_sync_wait = 7'
