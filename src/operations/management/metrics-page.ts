// `/metrics` of the management port: all metrics as text, for those who have the token where there is one.
import { createHash, timingSafeEqual } from 'node:crypto'
import { type ManagementPage, textResponse } from './server.js'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Where the metrics are. */
export interface MetricsText {
  readonly contentType: string
  scrape(): Promise<string>
}

/** Responds with all metrics. */
export function metricsPage({ contentType, scrape }: MetricsText, token: string | null): ManagementPage {
  const expected = token === null ? null : digest(`Bearer ${token}`)
  return async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(expected, digest(headers.authorization ?? '')))
      return textResponse(401, 'Unauthorized', { 'www-authenticate': 'Bearer' })
    return { status: 200, type: contentType, body: await scrape() }
  }
}
