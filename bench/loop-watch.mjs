// Loaded into a measured process before it starts: on SIGUSR2 it writes how long the event loop was held at most since the last time,
// in milliseconds, into the file that LOOP_WATCH names.

import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env.LOOP_WATCH
if (file && isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, String(delay.max / 1e6))
    delay.reset()
    renameSync(`${file}.new`, file)
  })
}
