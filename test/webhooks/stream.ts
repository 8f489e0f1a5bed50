// A client of the event stream, as a browser reads it.

/** A block of a stream. */
export interface Block {
  readonly id?: string
  readonly event?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data
  readonly data?: any
}

export interface Stream {
  readonly status: number
  readonly headers: Headers
  /** Blocks with data so far. */
  readonly events: Block[]
  /** All text so far. */
  text(): string
  /** The last id that was sent. */
  lastId(): string
  /** True if the service has ended the stream. */
  isOver(): boolean
  close(): void
}

/** Opens a stream; resolves when its status is there. */
export async function openStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  const events: Block[] = []
  let [text, rest, lastId, isOver] = ['', '', '', false]
  const read = async (): Promise<void> => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks.map(parsed)) {
        lastId = block.id ?? lastId
        if (block.data !== undefined) events.push(block)
      }
    }
  }
  read()
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    lastId: () => lastId,
    isOver: () => isOver,
    close: () => abort.abort(),
  }
}

function parsed(block: string): Block {
  const fields = Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  return { ...fields, ...(fields.data === undefined ? {} : { data: JSON.parse(fields.data) }) }
}
