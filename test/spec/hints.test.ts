// docs/spec/hints.md: every mistake of the list is answered, in development, so that one go repairs it; and nowhere else.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Answer, type Served, serveMagazine } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { type Ids, type Mistake, mistakes } from './mistakes.js'

type Contract = 'specification' | 'strapi'

const config = (contract: Contract) => ({ api: { rest: { contract } }, cors: { origins: ['https://reader.example'] } })

async function serve(contract: Contract, NODE_ENV: string): Promise<Served> {
  const served = await serveMagazine({ config: config(contract), environment: { ...secrets, NODE_ENV } })
  await addToken(served, 'full', { type: 'full-access' })
  await addToken(served, 'desk', { type: 'custom', actions: ['api::tag.tag.find'] })
  await addToken(served, 'reader', { type: 'read-only' })
  return served
}

async function idsOf(served: Served): Promise<Ids> {
  const [published] = (await served.ask('/api/articles?fields=slug&sort=id&pagination[limit]=1')).body.data
  const [draft] = (await served.ask('/api/articles?status=draft&publicationFilter=never-published')).body.data
  const [author] = (await served.ask('/api/authors?sort=id&pagination[limit]=1')).body.data
  const { documentId: article, id: row, slug } = published
  return { article, row, slug, draft: draft.documentId, author: author.documentId, authorName: author.name }
}

function send(served: Served, { method = 'GET', path, headers = {}, token, body, form }: Mistake): Promise<Answer> {
  const sent = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
  const all = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  // Without a type of its own, fetch says that a text is one.
  const bytes = headers['content-type'] === '' && sent !== undefined ? new TextEncoder().encode(sent) : sent
  const files = new FormData()
  for (const [name, file] of Object.entries(form ?? {})) files.append(name, new Blob(['not a picture']), file)
  return served.ask(path, { method, headers: all, token, body: (form === undefined ? bytes : files) as never })
}

const hintOf = ({ headers, body }: Answer): string | undefined => body?.error?.details?.hint ?? headers.get('octavo-hint') ?? undefined

/** Headers hold no other characters than ASCII. */
const readable = (hint: string): string => hint.replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))

const groups = {
  'hints.4': 'names that a query may not use',
  'hints.5': 'parameters and values',
  'hints.6': 'paths, methods and documents',
  'hints.7': 'callers',
  'hints.8': 'bodies',
} as const

describe.each(['specification', 'strapi'] as const)('with the contract %s', (contract) => {
  let development: Served
  let production: Served
  let unset: Served
  let known: readonly Mistake[]
  beforeAll(async () => {
    ;[development, production, unset] = await Promise.all([
      serve(contract, 'development'),
      serve(contract, 'production'),
      serve(contract, ''),
    ])
    known = mistakes(await idsOf(development), contract)
  })
  afterAll(() => Promise.all([development, production, unset].map((served) => served?.close())))

  for (const [id, what] of Object.entries(groups)) {
    rule(id, `${what} are answered so that one go repairs them`, async () => {
      const wrong: unknown[] = []
      for (const mistake of known.filter(({ group }) => group === id)) {
        const answer = await send(development, mistake)
        const hint = readable(hintOf(answer) ?? '')
        const missing = mistake.hint.filter((part) => (typeof part === 'string' ? !hint.includes(part) : !part.test(hint)))
        if (answer.status !== mistake.status || missing.length > 0)
          wrong.push({ mistake: mistake.name, status: answer.status, hint, missing })
      }
      expect(wrong).toEqual([])
    })
  }
})
