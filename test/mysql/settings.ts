// Connection settings of a server at a URL.
import type { ServerSettings } from '../../src/foundation/config/database.js'

/** The settings of a pool with `max` connections; `connectionTimeout` in milliseconds. */
export const settingsOf = (url: string, { max = 5, connectionTimeout = 5_000 } = {}): ServerSettings => ({
  ...{ url, schema: 'public', host: '', port: 0, name: '', user: '', password: '', ssl: false },
  ...{ pool: { min: 0, max }, connectionTimeout },
})
