// `octavo config`: the settings in force with their sources, and no secret.
import { afterAll, expect } from 'vitest'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { octavo, project, removeProjects } from './command.js'

afterAll(removeProjects)

const hidden = [
  'hunter2-in-a-url',
  'hunter2-of-a-provider',
  'hunter2-of-a-header',
  'hunter2-of-s3-hunter2',
  'hunter2-signs-tokens',
  'hunter2-of-a',
  'hunter2-of-b',
  'hunter2-in-a-query',
  'hunter2-in-no-variable',
]
const folder = project({
  ...contentType('note', { name: { type: 'string' } }),
  '.env': `JWT_SECRET=${hidden[4]}\nAPI_TOKEN_SALT=${hidden[4]}\nSMTP_URL=smtp://desk:${hidden[0]},b@mail.example.org\n`,
  'octavo.config.json': {
    api: { rest: { maxLimit: 40 } },
    auth: { providers: { github: { key: 'client', secret: hidden[1] } } },
    webhooks: { defaultHeaders: { Authorization: hidden[2] } },
    limits: { bodyBytes: 5 },
  },
})
const urls = {
  DATABASE_REPLICA_URLS: `postgres://u:${hidden[5]}@a/db,postgres://u:${hidden[6]}@b/db`,
  DATABASE_CLIENT: 'postgres',
  DATABASE_URL: `postgres://a/db?user=u&password=${hidden[7]}`,
  DATABASE_PASS: hidden[8]!,
}
const environment = { AWS_ACCESS_SECRET: hidden[3]!, ...urls, OCTAVO_CONFIG: '{"limits":{"bodyBytes":2000}}', PORT: '1400' }
const print = (...flags: readonly string[]) => octavo(['config', folder, ...flags], environment)

rule('running.12', 'octavo config names each setting in force and its source', async () => {
  const { status, out } = await print('--json')
  expect(status).toBe(0)
  const settings = JSON.parse(out) as readonly { readonly name: string; readonly value: unknown; readonly source: string }[]
  const byName = Object.fromEntries(settings.map(({ name, value, source }) => [name, [value, source]]))
  expect(byName).toMatchObject({
    'api.rest.maxLimit': [40, 'octavo.config.json'],
    'api.rest.defaultLimit': [25, 'default'],
    'limits.bodyBytes': [2000, 'OCTAVO_CONFIG'],
    port: [1400, 'PORT in the environment'],
    'mail.url': ['smtp://desk:…@mail.example.org', 'SMTP_URL in .env'],
    JWT_SECRET: ['•••', 'JWT_SECRET in .env'],
    AWS_ACCESS_SECRET: ['•••', 'AWS_ACCESS_SECRET in the environment'],
  })
})

rule('running.12', '--changed leaves out defaults, and no secret is printed in any form', async () => {
  const all = await Promise.all([print(), print('--json'), print('--changed')])
  for (const { out, err } of all) for (const secret of hidden) expect(out + err).not.toContain(secret)
  expect(all[2].out).toContain('api.rest.maxLimit')
  expect(all[2].out).not.toContain('default\n')
})
