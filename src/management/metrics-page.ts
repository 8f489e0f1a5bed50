// `/metrics` of the management port: all metrics as text, for those who have the token where there is one.
import { createHash, timingSafeEqual } from 'node:crypto'
import { managementLimits } from '../config/management.js'
import type { MetricsRegistry } from '../metrics/registry.js'
import type { MetricSources } from '../metrics/sources.js'
import { type ManagementPage, textResponse } from './server.js'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Responds with all metrics. `sources`: null before the service listens. */
export function metricsPage(registry: MetricsRegistry, token: string | null, sources: () => MetricSources | null): ManagementPage {
  const expected = token === null ? null : digest(`Bearer ${token}`)
  return async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(expected, digest(headers.authorization ?? '')))
      return textResponse(401, 'Unauthorized', { 'www-authenticate': 'Bearer' })
    return { status: 200, type: registry.contentType, body: await registry.scrape(sources(), managementLimits.scrapeWait) }
  }
}
