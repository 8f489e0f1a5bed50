// A thread that sends a light request every 10 ms until it is stopped, and returns the times.
import { parentPort, workerData } from 'node:worker_threads'

const { address, token } = workerData
let running = true
parentPort.once('message', () => {
  running = false
})
const ask = async () => {
  const started = performance.now()
  await (await fetch(address, { headers: { authorization: `Bearer ${token}` } })).arrayBuffer()
  return performance.now() - started
}
for (let warm = 0; warm < 20; warm++) await ask()
parentPort.postMessage('ready')
const times = []
while (running) {
  times.push(await ask())
  await new Promise((resolve) => setTimeout(resolve, 10))
}
parentPort.postMessage(times)
