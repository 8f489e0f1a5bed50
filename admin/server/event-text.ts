// Server-sent events in a stream of text.

/** One event of a stream. */
interface StreamEvent {
  readonly id: string | null
  readonly data: string
}

/** Longest block of lines without its end; more is no stream of the service. */
const maxBlock = 1_000_000

/** Returns a function that takes pieces of a stream and returns the events that they complete. */
export function createEventReader(): (piece: string) => readonly StreamEvent[] {
  let rest = ''
  return (piece) => {
    rest = `${rest}${piece}`.replaceAll('\r\n', '\n')
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    if (rest.length > maxBlock) throw new Error('The stream of events has no end of an event')
    return blocks.flatMap(readBlock)
  }
}

function readBlock(block: string): readonly StreamEvent[] {
  const fields = block.split('\n').map((line) => /^([^:]*):? ?(.*)$/s.exec(line)!.slice(1) as [string, string])
  const data = fields.filter(([name]) => name === 'data').map(([, value]) => value)
  const id = fields.findLast(([name]) => name === 'id')?.[1] ?? null
  return data.length === 0 ? [] : [{ id, data: data.join('\n') }]
}
