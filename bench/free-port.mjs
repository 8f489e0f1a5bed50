// A free port for a server that binds it later: below those that systems give to connections, one of which might take it first.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** @returns {Promise<number>} */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const isFree = await new Promise((resolve) => {
      const probe = createServer().once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
