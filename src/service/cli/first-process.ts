// Signals to the first process of a container.

/** The statuses of a process that a signal ends. */
const statuses = { SIGTERM: 143, SIGINT: 130 } as const

/**
 * Where this is process 1, lets SIGTERM and SIGINT end it for as long as nothing else handles them: the kernel ignores there what a process
 * does not handle, so that a signal during the start would be lost.
 */
export function endAsFirstProcess(): void {
  if (process.pid !== 1) return
  for (const [signal, status] of Object.entries(statuses)) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(status)
    })
  }
}
