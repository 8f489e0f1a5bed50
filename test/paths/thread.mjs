// Loaded ahead of every thread of the measured service: counts calls, and reports them when the main thread requests it.
import { Session } from 'node:inspector'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** Calls of the service's scripts since the previous one. */
function take() {
  let taken = []
  session.post('Profiler.takePreciseCoverage', (error, { result } = {}) => {
    if (error) throw error
    taken = result.filter(({ url }) => url.startsWith(process.env.MEASURED))
  })
  return taken
}

const channel = new BroadcastChannel('coverage')

if (isMainThread) {
  const threads = new Set()
  process.on('worker', (worker) => {
    threads.add(worker)
    worker.once('exit', () => threads.delete(worker))
  })
  let scripts = []
  let missing = 0
  channel.onmessage = ({ data }) => {
    scripts.push(...data)
    missing -= 1
    if (missing === 0) process.send({ scripts })
  }
  process.on('message', () => {
    scripts = take()
    missing = threads.size
    if (missing === 0) process.send({ scripts })
    else channel.postMessage('take')
  })
} else {
  // Every thread hears every other one.
  channel.onmessage = ({ data }) => data === 'take' && channel.postMessage(take())
}
channel.unref()
