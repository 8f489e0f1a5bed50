// The process of a service that `octavo dev` starts: `octavo start`, on a port that it shares with the process that it replaces.
import { limitYoungGeneration } from '../../runtime/gc.js'
import { start } from '../start.js'
import type { Serving } from './messages.js'

limitYoungGeneration()

const [folder = '.', replaces] = process.argv.slice(2)
await start(folder, {
  replaces: replaces === 'replaces',
  serving: (address) => void process.send?.({ kind: 'serving', address } satisfies Serving),
})
