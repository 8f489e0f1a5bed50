// Ends a command with the package manager that runs it: npx and npm do not pass every signal on, and none if they are killed.

/** Milliseconds between two looks at the parent process. */
const interval = 500

/** Calls `gone` once the package manager that started this process has ended. Does nothing in a process that a shell started itself. */
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
