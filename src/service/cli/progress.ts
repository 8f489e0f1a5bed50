// Progress of long commands: a line on standard error now and then.

/** Milliseconds between two lines. */
const interval = 1_000

/** Returns a function that writes what it is given, at most once a second. */
export function openProgress<Report>(lineOf: (report: Report) => string): (report: Report) => void {
  let next = performance.now() + interval
  return (report) => {
    if (performance.now() < next) return
    next = performance.now() + interval
    process.stderr.write(`${lineOf(report)}\n`)
  }
}
