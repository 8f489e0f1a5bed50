// The messages of a client, as the proxy between a service and its server finds them in the bytes of a connection.

/** A message of a client: its type by PostgreSQL's letters (`Q`: a statement as text), and its content. */
export interface ClientMessage {
  readonly type: string
  readonly text: string
}

/** Splits the bytes of one client into messages. */
type OpenMessages = (found: (message: ClientMessage) => void) => (bytes: Buffer) => void

/** The first message has no type. */
const postgresMessages: OpenMessages = (found) => {
  let rest = Buffer.alloc(0)
  let hasBegun = false
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const head = hasBegun ? 1 : 0
      if (rest.length < head + 4) return
      const length = head + rest.readUInt32BE(head)
      if (rest.length < length) return
      if (hasBegun) found({ type: String.fromCharCode(rest[0]!), text: rest.toString('utf8', 5, length) })
      hasBegun = true
      rest = rest.subarray(length)
    }
  }
}

/** Before a statement, where a server takes attributes of statements: that there are none. */
const noAttributes = '\0\u0001'

/** Commands, which begin a sequence; those that are no statement have the number of their command. */
const mysqlMessages: OpenMessages = (found) => {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
      const end = 4 + rest.readUIntLE(0, 3)
      const text = rest.toString('utf8', 5, end)
      if (rest[3] === 0) found({ type: rest[4] === 3 ? 'Q' : `${rest[4]}`, text: text.startsWith(noAttributes) ? text.slice(2) : text })
      rest = rest.subarray(end)
    }
  }
}

/** By the protocol of a URL. */
export const openMessages = (protocol: string): OpenMessages => (protocol === 'mysql:' ? mysqlMessages : postgresMessages)

/** True for the commit of a transaction. */
export const isCommit = ({ type, text }: ClientMessage): boolean => type === 'Q' && /^commit\0?$/i.test(text)
