// Commands that leave something behind when they are interrupted: what they have begun is removed first.

/** The exit status of a process that a signal ended. */
const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** What is done when a command is interrupted. */
export interface Interruption {
  /** From now on, this is undone before the process ends. */
  undoes(undo: () => Promise<void>): void
  /** The command is at its end: signals have their usual meaning again. */
  end(): void
}

/** Listens to the signals that end a process. */
export function watchInterruption(): Interruption {
  let undo: (() => Promise<void>) | null = null
  let status: number | null = null
  const leave = (): void => {
    if (undo === null || status === null) return
    process.stderr.write('octavo: interrupted\n')
    const code = status
    void undo().finally(() => process.exit(code))
  }
  const stops = Object.entries(statuses).map(([signal, code]) => {
    const interrupted = (): void => {
      status = code
      leave()
    }
    process.once(signal, interrupted)
    return () => process.off(signal, interrupted)
  })
  return {
    undoes: (given) => {
      undo = given
      leave()
    },
    end: () => {
      for (const stop of stops) stop()
    },
  }
}
