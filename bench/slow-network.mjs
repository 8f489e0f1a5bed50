// A proxy that delays the responses of a server on this machine, as a network would: node bench/slow-network.mjs PORT MILLISECONDS.
// Prints the port on which it listens.

import { connect, createServer } from 'node:net'

const [target, delay] = process.argv.slice(2).map(Number)

const listener = createServer((client) => {
  const server = connect(target, '127.0.0.1')
  client.setNoDelay(true)
  server.setNoDelay(true)
  client.pipe(server)
  // Timers end in starting order.
  server.on('data', (bytes) => setTimeout(() => client.write(bytes), delay))
  const end = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) socket.on('error', end).on('close', end)
})
listener.listen(0, '127.0.0.1', () => process.stdout.write(`${/** @type {import('node:net').AddressInfo} */ (listener.address()).port}\n`))
