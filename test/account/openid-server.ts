// A small OpenID Connect server for tests: signs in without questions, has a private signing key, requires PKCE.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export interface OpenIdServer {
  readonly issuer: string
  /** Its origin. */
  readonly origin: string
  /** Claims of the id token for the next sign-in. */
  person: Readonly<Record<string, unknown>>
  /** Replaces the nonce of the next id token. */
  nonce: string | null
  /** Replaces what the id tokens say about themselves. */
  token: Readonly<{ iss?: string; aud?: string; exp?: number }>
  /** Acts as the user's browser at `location`: agrees, and is redirected. */
  agree(location: string): string
  close(): void
}

/** `name`: its issuer, where that is not where it listens. */
export async function startOpenId(key: string, secret: string, name?: string): Promise<OpenIdServer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'RS256', use: 'sig' }
  const asked = new Map<string, URLSearchParams>()
  const server = createServer(async (request, response) => {
    const send = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (request.url === '/.well-known/openid-configuration') {
      const { issuer } = self
      return send({ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` })
    }
    if (request.url === '/keys') return send({ keys: [jwk] })
    let text = ''
    for await (const chunk of request) text += chunk
    const form = new URLSearchParams(text)
    const wanted = asked.get(form.get('code') ?? '')
    asked.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const right =
      wanted !== undefined &&
      wanted.get('code_challenge') === challenge &&
      wanted.get('redirect_uri') === form.get('redirect_uri') &&
      form.get('client_id') === key &&
      form.get('client_secret') === secret
    if (!right) return send({ error: 'invalid_grant' }, 400)
    const claims = { ...self.person, nonce: self.nonce ?? wanted.get('nonce') }
    const { iss = self.issuer, aud = key, exp = '5m' } = self.token
    const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test' }).setIssuer(iss).setAudience(aud)
    return send({ access_token: 'theirs', id_token: await token.setExpirationTime(exp).sign(privateKey) })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const self = {
    issuer: name ?? origin,
    origin,
    token: {} as OpenIdServer['token'],
    person: {} as Readonly<Record<string, unknown>>,
    nonce: null as string | null,
    agree: (location: string) => {
      const url = new URL(location)
      const code = randomBytes(8).toString('hex')
      asked.set(code, url.searchParams)
      const back = new URL(url.searchParams.get('redirect_uri')!)
      return `${back.pathname}?code=${code}&state=${url.searchParams.get('state')}`
    },
    close: () => server.close(),
  }
  return self
}
