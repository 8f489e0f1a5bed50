// Processes of node:cluster that respond with their id, and nothing else: what sharing a port costs by itself.
// node shared-port.mjs <rr|none> <processes>; prints the ids of the processes, the one that shares first, once all listen.

import cluster from 'node:cluster'
import { createServer } from 'node:http'

const [policy, count] = process.argv.slice(2)
if (cluster.isPrimary) {
  cluster.schedulingPolicy = policy === 'rr' ? cluster.SCHED_RR : cluster.SCHED_NONE
  const pids = [process.pid]
  cluster.on('listening', ({ process: { pid } }) => {
    pids.push(/** @type {number} */ (pid))
    if (pids.length > Number(count)) process.stdout.write(`${JSON.stringify(pids)}\n`)
  })
  for (let index = 0; index < Number(count); index++) cluster.fork()
} else createServer((_request, response) => response.end(String(process.pid))).listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
