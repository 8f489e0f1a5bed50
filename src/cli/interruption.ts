// Commands that leave something behind when they are interrupted: what they have begun is removed first.

/** The exit status of a process that a signal ended. */
const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Runs `undo` when the process is told to end, and ends it. Returns a function that stops that. */
export function onInterruption(undo: () => Promise<void>): () => void {
  const stops = Object.entries(statuses).map(([signal, status]) => {
    const end = (): void => {
      process.stderr.write(`octavo: interrupted\n`)
      void undo().finally(() => process.exit(status))
    }
    process.once(signal, end)
    return () => process.off(signal, end)
  })
  return () => {
    for (const stop of stops) stop()
  }
}
