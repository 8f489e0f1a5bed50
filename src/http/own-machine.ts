// Requests of browsers on the machine of the service, which development trusts more than others.
import type { IncomingMessage } from 'node:http'
import type { Config } from '../foundation/config/config.js'

/** Headers of requests that were forwarded by another program. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
const ownAddress = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/
const ownNames = ['localhost', '127.0.0.1', '[::1]']

/** True if a request was sent to this machine, by its own name, and no other program forwarded it: a name of others may lead here too. */
export function isFromOwnMachine({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
  const name = (headers.host ?? '').replace(/:\d{1,5}$/, '')
  return (
    ownAddress.test(socket.remoteAddress ?? '') && ownNames.includes(name) && forwarding.every((header) => headers[header] === undefined)
  )
}

/** True if a service in development that is published nowhere else is used on its own machine. */
export const isLocalDevelopment = (
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
  config: Pick<Config, 'hints' | 'publicUrl'>,
): boolean => config.hints && ownNames.includes(new URL(config.publicUrl).hostname) && isFromOwnMachine(request)
