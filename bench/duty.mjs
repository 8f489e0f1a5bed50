// Processes that get a share of the processor only, so that a machine with few cores shows whether several are faster than one.

/**
 * Lets each process run for so many milliseconds of each period, in turn; the returned function ends that.
 * @param {readonly number[]} pids
 * @param {{ running: number, period: number }} milliseconds
 */
export function limitTo(pids, { running, period }) {
  let isOver = false
  const signal = (/** @type {number} */ pid, /** @type {NodeJS.Signals} */ name) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
  }
  const wait = (/** @type {number} */ until) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())))
  const turns = pids.map(async (pid, index) => {
    // By a plan of absolute times, so that late timers do not add up.
    let begin = performance.now() + (index * period) / pids.length
    while (!isOver) {
      await wait(begin)
      signal(pid, 'SIGCONT')
      await wait(begin + running)
      signal(pid, 'SIGSTOP')
      begin += period
    }
    signal(pid, 'SIGCONT')
  })
  return async () => {
    isOver = true
    await Promise.all(turns)
  }
}
