// The process of a service that `octavo dev` starts: `octavo start`, on a port that it shares with the process that it replaces. It loads
// its code before it is told to begin.
import { limitYoungGeneration } from '../../runtime/gc.js'
import { start } from '../start.js'
import type { Begin, FromService } from './messages.js'

limitYoungGeneration()

const [folder = '.'] = process.argv.slice(2)
const send = (message: FromService): void => void process.send?.(message)

process.once('message', ({ replaces }: Begin) => {
  start(folder, { replaces, serving: (address) => send({ kind: 'serving', address }) })
})
send({ kind: 'loaded' })
