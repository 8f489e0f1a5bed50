// Why a native module cannot be loaded, as a sentence for the operator.

/** The native module without which no command works. */
const required = 'better-sqlite3'

/**
 * Describes the error of a native module that is missing, not built, or built for another version of Node.js; null for any other error.
 * pnpm and npm run install scripts only where the project allows them.
 */
export function describeNativeModule(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, message } = error as NodeJS.ErrnoException
  if (message.startsWith('Could not locate the bindings file'))
    return `The native module ${required} is not built: its install script did not run. Run ${repairs}.`
  if (code === 'ERR_DLOPEN_FAILED' && message.includes('NODE_MODULE_VERSION'))
    return `A native module was built for another version of Node.js than ${process.version}. Run ${repairs}.`
  if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${required}'`))
    return `The package ${required} is not installed: its install script failed, or the dependencies are incomplete. Install them again.`
  return null
}

const repairs = `"pnpm approve-builds" with pnpm, "bun pm trust ${required}" with bun, otherwise "npm rebuild ${required}"`

type ListenError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string; readonly hostname?: string }

/** Describes an error of listening so that the operator can fix it. `variables`: what sets the port and the host. */
export function describePortProblem(
  { code = '', syscall, message, port, address, hostname }: ListenError,
  variables: { readonly port: string; readonly host: string },
): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use by another process. Stop that process, or set ${variables.port} to another port.`
  if (code === 'EACCES' && syscall === 'listen')
    return `Port ${port} needs elevated privileges. Set ${variables.port} to a number above 1023.`
  if (code === 'EADDRNOTAVAIL') return `${variables.host} is "${address}", which is not an address of this machine.`
  if (syscall === 'getaddrinfo') return `${variables.host} is "${hostname}", which is not an address of this machine.`
  return message
}
