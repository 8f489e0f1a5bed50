// Adds time to the way to a server on this machine, as a network between them would: node bench/slow-network.mjs PORT MILLISECONDS.
// Prints the port on which it listens. Every answer of the server arrives that much later.

import { connect, createServer } from 'node:net'

const [target, delay] = process.argv.slice(2).map(Number)

const listener = createServer((client) => {
  const server = connect(target, '127.0.0.1')
  client.setNoDelay(true)
  server.setNoDelay(true)
  client.pipe(server)
  // Timers end in the order in which they began.
  server.on('data', (bytes) => setTimeout(() => client.write(bytes), delay))
  const end = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) socket.on('error', end).on('close', end)
})
listener.listen(0, '127.0.0.1', () => process.stdout.write(`${/** @type {import('node:net').AddressInfo} */ (listener.address()).port}\n`))
