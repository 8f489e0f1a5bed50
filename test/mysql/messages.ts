// The messages of a MySQL client, for the proxy that stands between a service and its server.
import type { ClientMessage, OpenMessages } from '../postgres/proxy.js'

/** Commands, which begin a sequence; statements have the type `Q`. */
export const mysqlMessages: OpenMessages = (found) => {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
      const end = 4 + rest.readUIntLE(0, 3)
      if (rest[3] === 0) found({ type: rest[4] === 3 ? 'Q' : `${rest[4]}`, text: rest.toString('utf8', 5, end) })
      rest = rest.subarray(end)
    }
  }
}

/** Whether a message is the end of a transaction that has written. */
export const isCommit = ({ type, text }: ClientMessage): boolean => type === 'Q' && text === 'commit'
