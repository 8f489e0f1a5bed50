// A request as data, and as the text of a command or of a program.

export interface Request {
  readonly method: string
  /** With the prefix of the API and the query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, a form, or none. */
  readonly body: string | FormData | null
}

/** Encodes a value; brackets, commas and the like stay readable. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(24|2C|3A|2A|5B|5D|2F)/g, (found) => decodeURIComponent(found))

const inShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A command for a shell. The token is taken from the variable TOKEN. */
export function asCurl(origin: string, { method, path, headers, body }: Request, hasToken: boolean): string {
  const lines = [`curl -g ${method === 'GET' ? '' : `-X ${method} `}${inShell(origin + path)}`]
  if (hasToken) lines.push('-H "Authorization: Bearer $TOKEN"')
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${inShell(`${name}: ${value}`)}`)
  if (typeof body === 'string') lines.push(`--data-raw ${inShell(body)}`)
  if (body instanceof FormData)
    for (const [name, value] of body) lines.push(`-F ${inShell(`${name}=${typeof value === 'string' ? value : `@${value.name}`}`)}`)
  return lines.join(' \\\n  ')
}

/** The same in JavaScript. */
export function asFetch(origin: string, { method, path, headers, body }: Request, hasToken: boolean): string {
  const all = { ...headers, ...(hasToken ? { authorization: '$TOKEN' } : {}) }
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(Object.keys(all).length === 0
      ? []
      : [
          `headers: ${JSON.stringify(all, null, 2)
            .replace('"$TOKEN"', '`Bearer $' + '{token}`')
            .replaceAll('\n', '\n  ')}`,
        ]),
    ...(typeof body === 'string' ? [`body: JSON.stringify(${body.trim().replaceAll('\n', '\n  ')})`] : []),
    ...(body instanceof FormData ? ['body: form'] : []),
  ]
  const call = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`
  return `const response = await fetch(${JSON.stringify(origin + path)}${call})\nconst ${method === 'DELETE' ? 'status = response.status' : 'result = await response.json()'}`
}
