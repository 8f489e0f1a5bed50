// The golden project in the contract `specification`, written with full access: refusals fail the test.
import { expect } from 'vitest'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'

export interface GoldenSender {
  readonly served: Served
  /** Resolves to the body of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: documents of every type
  send(method: string, path: string, data?: object): Promise<any>
}

export async function serveSender(): Promise<GoldenSender> {
  const served = await serveGolden({ config: { api: { rest: { contract: 'specification' } } } })
  const token = goldenTokens().full!
  return {
    served,
    send: async (method, path, data) => {
      const { status, body, text } = await served.request(`/api/${path}`, {
        method,
        token,
        ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
      })
      expect(status, `${method} ${path} ${JSON.stringify(data)} ${text}`).toBeLessThan(300)
      return body
    },
  }
}
