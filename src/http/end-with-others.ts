// Ends the small responses of one turn of the event loop one right after the other: a client that shares the machine is woken up once for
// several of them, not in between the work for each.
import type { ServerResponse } from 'node:http'

const waiting: { readonly response: ServerResponse; readonly text: string }[] = []

/** Ends a response with latin1 text at the end of this turn of the event loop, together with others. */
export function endWithOthers(response: ServerResponse, text: string): void {
  if (waiting.push({ response, text }) > 1) return
  setImmediate(() => {
    for (const { response: ready, text: body } of waiting.splice(0)) ready.end(body, 'latin1')
  })
}
