// Ends a process with the package manager that runs it: npm and npx pass SIGTERM on to a shell only, which leaves the process behind with
// its port and its database.

/** Milliseconds between two looks at the parent process. */
const interval = 500

/** Calls `gone` once the shell of the package manager that started this process has ended. Does nothing in a process that was started otherwise. */
export function endWithParent(gone: () => void): void {
  if (process.env.npm_execpath === undefined && process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, interval)
  timer.unref()
}
