// The bodies that /docs begins with: the service takes them as they are.
import { afterAll, beforeAll, expect } from 'vitest'
import { readDescription } from '../../src/http/pages/browser/docs-page/description.js'
import { createExample } from '../../src/http/pages/browser/docs-page/example.js'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine, serveProject } from '../support/serve.js'

const text = { type: 'string', required: true }
const files = {
  'src/api/part/content-types/part/schema.json': {
    kind: 'collectionType',
    info: { singularName: 'part', pluralName: 'parts', displayName: 'Part' },
    options: { draftAndPublish: true },
    attributes: {
      longWords: { ...text, minLength: 90, maxLength: 95 },
      short: { ...text, maxLength: 4 },
      link: { ...text, regex: '^(https?://|mailto:|/).+' },
      code: { ...text, regex: '^[A-Z]{2}-\\d{3}$' },
      digits: { ...text, regex: '^\\d{13}$' },
      handle: { type: 'uid', required: true, minLength: 12 },
      rich: { type: 'blocks', required: true },
      words: { type: 'richtext', required: true, minLength: 20 },
      mail: { type: 'email', required: true },
      secret: { type: 'password', required: true, minLength: 30 },
      few: { type: 'integer', required: true, min: 1.5, max: 4 },
      negative: { type: 'decimal', required: true, max: -3 },
      exact: { type: 'float', required: true, min: 2.5, max: 2.6 },
      big: { type: 'biginteger', required: true },
      day: { type: 'date', required: true },
      hour: { type: 'time', required: true },
      instant: { type: 'datetime', required: true },
      stamp: { type: 'timestamp', required: true },
      choice: { type: 'enumeration', enum: ['one', 'two'], required: true },
      anything: { type: 'json', required: true },
      yes: { type: 'boolean', required: true },
      one: { type: 'component', component: 'deep.outer', required: true },
      three: { type: 'component', component: 'deep.leaf', repeatable: true, required: true, min: 3 },
      zone: { type: 'dynamiczone', components: ['deep.outer', 'deep.leaf'], required: true, min: 2 },
      optionalList: { type: 'component', component: 'deep.leaf', repeatable: true, min: 2 },
      parent: { type: 'relation', relation: 'manyToOne', target: 'api::part.part' },
      picture: { type: 'media' },
    },
  },
  'src/components/deep/outer.json': {
    info: { displayName: 'Outer' },
    attributes: { inner: { type: 'component', component: 'deep.inner', required: true } },
  },
  'src/components/deep/inner.json': {
    info: { displayName: 'Inner' },
    attributes: { leaves: { type: 'component', component: 'deep.leaf', repeatable: true, required: true, min: 1 } },
  },
  'src/components/deep/leaf.json': { info: { displayName: 'Leaf' }, attributes: { name: { ...text, minLength: 30 } } },
}

let all: readonly Served[]
beforeAll(async () => {
  const environment = secrets
  all = await Promise.all([
    serveMagazine({ environment }),
    serveProject(files, { environment }),
    serveProject(files, { environment, config: { api: { rest: { contract: 'strapi' } } } }),
  ])
  for (const served of all) await addToken(served, 'all', { type: 'full-access' })
})
afterAll(() => Promise.all(all.map((served) => served.close())))

rule('openapi.21', 'the body that a write of a document begins with is taken, published and as a draft', async () => {
  const sent: string[] = []
  for (const served of all) {
    const { body } = await served.request('/api/openapi.json', { token: 'all' })
    const description = readDescription(body)
    const types = description.groups.filter(({ tag }) => !/users-permissions|upload|content-type-builder|i18n|email|events/.test(tag))
    for (const { method, path, body: bodies } of types.flatMap(({ operations }) => operations)) {
      const schema = bodies['application/json']
      if (schema === undefined || path.includes('{')) continue
      for (const query of ['', '?status=draft']) {
        const example = JSON.stringify(createExample(description, schema))
        const answer = await served.request(`/api${path}${query}`, {
          ...{ method, token: 'all', body: example },
          headers: { 'content-type': 'application/json' },
        })
        expect([method, path, example, answer.body.error ?? null]).toEqual([method, path, example, null])
        sent.push(path)
      }
    }
  }
  expect(new Set(sent)).toContain('/articles')
  expect(new Set(sent).size).toBeGreaterThan(10)
})
