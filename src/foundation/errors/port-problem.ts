// Why a port cannot be listened on, as a sentence for the operator.

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
