// Loaded before a process: its time of day is that of the machine and CLOCK_OFFSET milliseconds, and its uptime that of the machine and
// UPTIME_OFFSET milliseconds. Threads have them too.
const offset = Number(process.env.CLOCK_OFFSET ?? 0)
const now = Date.now.bind(Date)

globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() + offset)
    else super(...given)
  }

  static now() {
    return now() + offset
  }
}

const uptime = process.hrtime.bigint.bind(process.hrtime)
const uptimeOffset = BigInt(process.env.UPTIME_OFFSET ?? 0) * 1_000_000n
process.hrtime.bigint = () => uptime() + uptimeOffset
