// Providers with their real responses, at one local address: the token endpoints and profiles of GitHub and Discord.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

export interface OAuthServer {
  readonly origin: string
  /** Response for each path of a profile, with its status unless it is 200. */
  answers: Readonly<Record<string, unknown>>
  /** The requested paths, in order. */
  readonly asked: string[]
  /** Acts as the user's browser at `location`: agrees, and is redirected. */
  agree(location: string): string
  close(): void
}

export async function startOAuth(key: string, secret: string): Promise<OAuthServer> {
  const agreed = new Map<string, URLSearchParams>()
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const send = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const path = request.url ?? ''
    asked.push(path)
    if (request.method === 'GET') {
      const isAllowed = request.headers.authorization === 'Bearer theirs' && request.headers['user-agent'] !== undefined
      if (!isAllowed || !(path in self.answers)) return send({ message: 'Not Found' }, 404)
      return send(self.answers[path])
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const form = new URLSearchParams(text)
    const wanted = agreed.get(form.get('code') ?? '')
    agreed.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const right =
      request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true &&
      form.get('client_id') === key &&
      form.get('client_secret') === secret &&
      wanted?.get('redirect_uri') === form.get('redirect_uri') &&
      wanted?.get('code_challenge') === challenge
    // GitHub reports errors with status 200, and responds with a form unless JSON is requested.
    if (!right) return send({ error: 'bad_verification_code' }, path.startsWith('/login') ? 200 : 400)
    if (request.headers.accept !== 'application/json') return response.end('access_token=theirs')
    return send({ access_token: 'theirs', token_type: 'bearer' })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const self = {
    origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    answers: {} as Readonly<Record<string, unknown>>,
    asked,
    agree: (location: string) => {
      const url = new URL(location)
      const code = randomBytes(8).toString('hex')
      agreed.set(code, url.searchParams)
      return `${new URL(url.searchParams.get('redirect_uri')!).pathname}?code=${code}&state=${url.searchParams.get('state')}`
    },
    close: () => server.close(),
  }
  return self
}
