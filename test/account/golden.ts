// The golden project for tests of accounts: e-mails are read from the log, rows are read and changed by another program.
import type { Served, ServeOptions, TestResponse } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'

/** Serves the golden project in development mode, which prints e-mails. */
export const serveAccounts = (options: ServeOptions = {}): Promise<Served> =>
  serveGolden({ ...options, environment: { NODE_ENV: 'development', ...options.environment } })

/** POSTs JSON. */
export function post(
  served: Served,
  path: string,
  body: unknown,
  token?: string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return served.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(token === undefined ? {} : { token }),
  })
}

export const logIn = (served: Served, identifier: string, password: string): Promise<TestResponse> =>
  post(served, '/api/auth/local', { identifier, password })

/** Changes what Strapi's admin keeps under a key of its settings. */
// biome-ignore lint/suspicious/noExplicitAny: settings of every shape
export async function changeSetting({ sql }: Served, key: string, change: (value: any) => void): Promise<void> {
  const [row] = await sql('select value from strapi_core_store_settings where "key" = ?', key)
  const value = JSON.parse(row!.value)
  change(value)
  await sql('update strapi_core_store_settings set value = ? where "key" = ?', JSON.stringify(value), key)
}

/** Changes the settings that Strapi's admin keeps for accounts. */
export const setAccounts = (served: Served, settings: Readonly<Record<string, unknown>>): Promise<void> =>
  changeSetting(served, 'plugin_users-permissions_advanced', (value) => Object.assign(value, settings))

export interface PrintedLetter {
  readonly to: string
  readonly text: string
  readonly code: string
}

/** Returns the printed e-mails, once there are `count`. */
export async function letters(served: Served, count: number): Promise<readonly PrintedLetter[]> {
  const printed = (): readonly PrintedLetter[] =>
    served.log.flatMap((line) => {
      const { msg } = JSON.parse(line) as { msg: string }
      const letter = /E-mail ".*" to (\S+): ([\s\S]*)/.exec(msg ?? '')
      return letter === null ? [] : [{ to: letter[1]!, text: letter[2]!, code: /(?:code|confirmation)=(\w+)/.exec(letter[2]!)?.[1] ?? '' }]
    })
  await until(`${count} letters are printed`, () => printed().length >= count)
  return printed()
}
