// Settings without a valid meaning end the start with a sentence; probable errors are reported.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as Octavo from '../../src/service/index.js'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const notes = contentType('note', { name: { type: 'string' } })
let load: typeof Octavo.loadConfig
beforeAll(async () => {
  load = ((await import(join(root, 'dist', 'index.js'))) as typeof Octavo).loadConfig
})

const withFile = (config: object | string) =>
  load(project({ ...notes, [typeof config === 'string' ? 'octavo.config.cjs' : 'octavo.config.json']: config }), {})
const withVariables = (environment: Readonly<Record<string, string>>, files: Readonly<Record<string, unknown>> = {}) =>
  load(project({ ...notes, ...files }), environment)

describe('octavo.config', () => {
  test.each([
    [{ mail: { url: 'smtp.example.org' } }, /mail\.url is "smtp\.example\.org"; it must be a URL like smtps:/],
    [{ mail: { url: 'http://example.org' } }, /mail\.url/],
    [{ mail: { from: 'Magazine' } }, /mail\.from is "Magazine"/],
    [{ cors: { origins: ['localhost:3000'] } }, /cors\.origins\): "localhost:3000" .*did you mean "http:\/\/localhost:3000"/],
    [{ cors: { origins: ['http://localhost:3000/'] } }, /did you mean "http:\/\/localhost:3000"\?/],
    [{ cors: { origins: ['https://example.org/app'] } }, /did you mean "https:\/\/example\.org"\?/],
    [{ cors: { origins: ['https://Example.org:443'] } }, /did you mean "https:\/\/example\.org"\?/],
    [{ cors: { origins: ['*'] } }, /without a list/],
    [{ cors: { origins: 'http://localhost:3000' } }, /cors\.origins\): must be "\*" or a list of origins/],
    [{ api: { rest: { defaultLimit: 200 } } }, /api\.rest\.defaultLimit is 200, above api\.rest\.maxLimit \(100\)/],
    [{ database: { readerThreads: 8, maxReaderThreads: 2 } }, /database\.readerThreads is 8, above database\.maxReaderThreads \(2\)/],
    [{ limits: { readTimeout: 3_000_000_000 } }, /limits\.readTimeout/],
    [{ limits: { bodyBytes: 4_000_000_000 } }, /limits\.bodyBytes/],
    [{ auth: { jwtLifespan: 1e15 } }, /auth\.jwtLifespan/],
    [{ port: 70_000 }, /port/],
    [{ url: 'content.example.org' }, /url/],
    ['module.exports = { hooks: [{}] }', /hooks\[0\]\): has neither before nor after/],
    ["module.exports = { hooks: [{ before: 'x' }] }", /hooks\[0\]\.before\): must be a function/],
  ])('%j', async (config, said) => {
    await expect(withFile(config)).rejects.toThrow(said)
  })

  test.each([
    ['proxies', 'trustProxy'],
    ['auth.callbacks', 'allowedCallbacks'],
    ['database.readers', 'readerThreads'],
    ['database.maxReaders', 'maxReaderThreads'],
    ['limits.planNodes', 'queryComplexity'],
    ['limits.unsentBytes', 'maxBufferedResponseBytes'],
    ['limits.imagesAtOnce', 'imageConcurrency'],
    ['limits.authRequests', 'authRateLimit'],
    ['limits.answerBytes', 'responseBytes'],
    ['limits.unreadBytes', 'maxBufferedBodyBytes'],
    ['limits.webhookLongestPause', 'webhookMaxRetryDelay'],
  ])('the earlier name %s is refused and the new name %s suggested', async (old, now) => {
    const [key, parent] = old.split('.').reverse() as [string, string?]
    await expect(withFile(parent === undefined ? { [key]: 1 } : { [parent]: { [key]: 1 } })).rejects.toThrow(
      `Unrecognized key: "${key}"; it is now called "${now}".`,
    )
  })

  test('a limit that was a setting is refused, and what determines it is named', async () => {
    await expect(withFile({ limits: { bodyKeys: 1 } })).rejects.toThrow(
      'Unrecognized key: "bodyKeys"; this limit is fixed and cannot be configured.',
    )
    await expect(withFile({ limits: { eventStreams: 1 } })).rejects.toThrow(
      'Unrecognized key: "eventStreams"; this limit follows from "connections", which can be set in its place.',
    )
    await expect(withFile({ limits: { idleTimeout: 1, logBytes: 1, planNodes: 1 } })).rejects.toThrow(
      'Unrecognized keys: "idleTimeout", "logBytes", "planNodes"; "idleTimeout" is five seconds more than the longest of "keepAliveTimeout", ' +
        '"readTimeout", "writeTimeout", "routeTimeout", "hookTimeout", "storageTimeout" and twelve times "imageCpuTime"; "logBytes" is fixed and cannot be configured; "planNodes" is now called "queryComplexity".',
    )
    for (const [name, said] of [
      ['uploadTimeout', 'is an hour, or longer if "uploadBytes" takes more at 0.6 MB per second'],
      ['listenerAttempts', 'is fixed and cannot be configured'],
      ['doctorTimeout', 'is "routeTimeout", but at least 30,000'],
      ['archiveLineBytes', 'is a quarter of "archiveBytes", but at most 256,000,000'],
      ['modelChangeTimeout', 'is a fifth of "readTimeout", from 1,000 to 2,000'],
    ] as const)
      await expect(withFile({ limits: { [name]: 1 } })).rejects.toThrow(`Unrecognized key: "${name}"; this limit ${said}.`)
  })

  test('meaningful values are accepted', async () => {
    const config = {
      cors: { origins: ['https://example.org', 'http://localhost:3000', 'capacitor://localhost', 'http://[::1]:5173'] },
      mail: { url: 'smtps://name:pass%40word@mail.example.org:465?pool=true', from: 'Magazine <desk@example.org>' },
      api: { rest: { maxLimit: 10 } },
    }
    expect((await withFile(config)).warnings).toEqual([])
    expect((await withFile({ mail: { from: 'desk@localhost' } })).mail.from).toBe('desk@localhost')
  })
})

describe('environment', () => {
  test.each([
    [{ SMTP_URL: 'foo' }, /SMTP_URL is "foo"/],
    [{ SMTP_URL: 'smtp://name:secret@' }, /^(?!.*secret)/],
    [{ MAIL_FROM: 'desk at example' }, /MAIL_FROM/],
    [{ PUBLIC_URL: 'content.example.org' }, /PUBLIC_URL is "content\.example\.org"; it must be a URL like https:/],
    [{ JWT_SECRET: 'b' }, /JWT_SECRET is too weak/],
    [{ OCTAVO_CONFIG: '{"uploads":{"storage":{"provider":"aws-s3"}}}' }, /uploads\.storage\.bucket or AWS_BUCKET\): it is missing\.$/],
    [{ OCTAVO_CONFIG: '{"limits":{"bodyBytes":0}}' }, /limits\.bodyBytes\): it must be (?:at least 1|above 0)\.$/],
    [{ OCTAVO_CONFIG: '{"cors":{"headers":5}}' }, /cors\.headers\): it must be an array, but is number\.$/],
    [{ PORT: '99999' }, /PORT/],
    [{ DATABASE_CLIENT: 'postgres', DATABASE_POOL_MAX: '0' }, /^Invalid database settings in the environment: DATABASE_POOL_MAX: /],
    [{ DATABASE_CLIENT: 'mysql', DATABASE_POOL_MAX: '0' }, /DATABASE_POOL_MAX/],
    [{ OCTAVO_PROXIES: '1' }, /^OCTAVO_PROXIES is now called OCTAVO_TRUST_PROXY\.$/],
    [{ OCTAVO_DATABASE_READERS: '1' }, /^OCTAVO_DATABASE_READERS is now called OCTAVO_DATABASE_READER_THREADS\.$/],
    [{ OCTAVO_DATABASE_MAX_READERS: '1' }, /^OCTAVO_DATABASE_MAX_READERS is now called OCTAVO_DATABASE_MAX_READER_THREADS\.$/],
  ])('%j', async (environment, said) => {
    await expect(withVariables(environment)).rejects.toThrow(said)
  })

  test('a pool of one connection, and a pool without idle connections', async () => {
    const environment = { DATABASE_CLIENT: 'postgres', DATABASE_POOL_MIN: '0', DATABASE_POOL_MAX: '1' }
    const { database, warnings } = await withVariables(environment)
    expect([database.server?.pool, warnings]).toEqual([{ min: 0, max: 1 }, []])
    const named = { 'config/database.json': { connection: { client: 'postgres', pool: { min: 0, max: 0 } } } }
    await expect(withVariables({}, named)).rejects.toThrow(/^Invalid database settings in Strapi's config\/database: pool\.max: /)
  })

  test('an unknown NODE_ENV, unused names and weak secrets cause warnings', async () => {
    expect((await withVariables({ NODE_ENV: 'prodction' })).warnings).toEqual([
      expect.stringMatching(/NODE_ENV is "prodction".*did you mean "production"\?/),
    ])
    expect((await withVariables({ OCTAVO_TRUST_PROXI: '1' })).warnings).toEqual([
      expect.stringMatching(/OCTAVO_TRUST_PROXI is not a known setting; did you mean "OCTAVO_TRUST_PROXY"\?/),
    ])
    expect((await withVariables({ OCTAVO_ARCHIVE_KEY: 'a key of archives' })).warnings).toEqual([])
    const own = {
      '.env':
        'DATABASE_FILENMAE=x.db\nDATABASE_NAME=y\nSMTP_USER=z\nSITE_URL=https://a.example\nAPP_KEYS=a,b\nADMIN_JWT_SECRET=c\nJWT_SECRET=short\n',
    }
    expect((await withVariables({}, own)).warnings).toEqual([
      'DATABASE_FILENMAE has no effect; did you mean "DATABASE_FILENAME"?',
      expect.stringMatching(/JWT_SECRET has only 5 characters/),
    ])
    const folder = project(notes)
    mkdirSync(join(folder, 'config', 'env', 'preview'), { recursive: true })
    for (const mode of ['preview', 'production', 'development', 'test', ''])
      expect((await load(folder, { NODE_ENV: mode })).warnings).toEqual([])
  })
})

describe("settings of Strapi's config/", () => {
  const strapi = {
    'config/server.ts': `import type { Core } from '@strapi/strapi'
      export default ({ env }: Core.Config.Shared.ConfigParams) => ({
        host: env('HOST', '127.0.0.1'), port: env.int('PORT', 1400), url: env('URL', 'https://content.example'), proxy: { koa: true, maxIpsCount: 2 },
        app: { keys: env.array('APP_KEYS') }, webhooks: { defaultHeaders: { 'X-A': 1, 'X-B': null } },
      })`,
    'config/plugins.js': `module.exports = ({ env }) => ({
        'users-permissions': { config: {
          jwt: { expiresIn: '7d' }, register: { allowedFields: ['nickname'] }, jwtManagement: 'refresh', sessions: { accessTokenLifespan: 120, httpOnly: true, cookie: { name: 'refresh' } },
        } },
        upload: { config: { sizeLimit: 1000, security: { allowedTypes: ['image/*'] }, provider: '@strapi/provider-upload-aws-s3', providerOptions: {
          baseUrl: env('CDN_URL'),
          s3Options: { credentials: { accessKeyId: 'key', secretAccessKey: 'secret' }, region: 'eu-1', params: { Bucket: 'media', ACL: 'private' } },
        } } },
        email: { config: { provider: 'nodemailer',
          providerOptions: { host: 'mail.example', port: 465, auth: { user: 'a@b', pass: 'p/w' } }, settings: { defaultFrom: 'Desk <a@b.example>' } } },
      })`,
    'config/env/preview/plugins.js': 'module.exports = { upload: { config: { sizeLimit: 3000 } } }',
    'config/middlewares.json': [
      'strapi::errors',
      { name: 'strapi::cors', config: { origin: 'https://a.example, http://b.example', headers: ['X-A'] } },
      { name: 'strapi::body', config: { jsonLimit: '10mb', formidable: { maxFileSize: 2_000 } } },
    ],
  }

  rule(
    'projects.26',
    'settings with the meaning of one in octavo.config apply, and octavo.config and variables override them',
    async () => {
      const config = await withVariables({}, strapi)
      expect(config).toMatchObject({
        ...{ host: '127.0.0.1', port: 1400, publicUrl: 'https://content.example', trustProxy: 2 },
        ...{ corsOrigins: ['https://a.example', 'http://b.example'], corsHeaders: ['X-A'] },
        auth: {
          jwtLifespan: 7 * 86_400_000,
          jwtManagement: 'refresh',
          accessTokenLifespan: 120_000,
          register: { allowedFields: ['nickname'] },
        },
        limits: { fileBytes: 1_000, bodyBytes: 10_485_760 },
        uploadTypes: { allowed: ['image/*'], denied: [] },
        storage: { provider: 'aws-s3', bucket: 'media', region: 'eu-1', accessKeyId: 'key', secretAccessKey: 'secret', acl: 'private' },
        mail: { url: 'smtps://a%40b:p%2Fw@mail.example:465', from: 'Desk <a@b.example>' },
        webhooks: { defaultHeaders: { 'X-A': '1' } },
        warnings: [],
      })
      const own = { port: 1500, cors: { origins: '*' }, auth: { register: { allowedFields: [] } }, limits: { fileBytes: 5_000 } }
      const overridden = await withVariables({ HOST: '0.0.0.0', SMTP_URL: 'smtp://localhost' }, { ...strapi, 'octavo.config.json': own })
      expect(overridden).toMatchObject({
        ...{ host: '0.0.0.0', port: 1500, corsOrigins: '*', corsHeaders: ['X-A'] },
        auth: { jwtManagement: 'refresh', register: { allowedFields: [] } },
        limits: { fileBytes: 5_000 },
        mail: { url: 'smtp://localhost', from: 'Desk <a@b.example>' },
      })
      expect((await withVariables({ NODE_ENV: 'preview', JWT_SECRET: 'a long secret of many characters' }, strapi)).limits.fileBytes).toBe(
        2_000,
      )
    },
  )

  test.each([
    ['plugins', { 'users-permissions': { config: { jwt: { expiresIn: 3_600 } } } }, { auth: { jwtLifespan: 3_600_000 } }],
    ['plugins', { 'users-permissions': { config: { jwt: { expiresIn: '3600' } } } }, { auth: { jwtLifespan: 3_600 } }],
    ['plugins', { 'users-permissions': { config: { jwt: { expiresIn: '2 Hours' } } } }, { auth: { jwtLifespan: 7_200_000 } }],
    ['middlewares', [{ name: 'strapi::cors', config: { origin: ['https://a.example', '*'] } }], { corsOrigins: '*' }],
    ['middlewares', [{ name: 'strapi::body', config: { jsonLimit: 3_000_000 } }], { limits: { bodyBytes: 3_000_000 } }],
    ['server', { port: '1400', url: '/strapi', proxy: { koa: false } }, { port: 1400, publicUrl: 'http://localhost:1400', trustProxy: 0 }],
    ['plugins', { upload: { config: { provider: 'local' } }, email: { config: { provider: 'sendmail' } } }, { mail: { url: null } }],
  ])('as Strapi reads config/%s: %j', async (name, content, read) => {
    expect(await withVariables({}, { [`config/${name}.json`]: content })).toMatchObject({ ...read, warnings: [] })
  })

  rule('projects.26', 'secrets of the files apply where no variable sets them', async () => {
    const files = {
      'config/admin.js': `module.exports = ({ env }) => ({ auth: { secret: env('PANEL') }, apiToken: { salt: 'the salt of the project' } })`,
      'config/plugins.js': `module.exports = ({ env }) => ({ 'users-permissions': { config: { jwtSecret: env('USERS', 'a secret of the project') } } })`,
    }
    const read = await withVariables({ PANEL: 'a secret of the panel' }, files)
    const secrets = {
      apiTokenSalt: 'the salt of the project',
      jwtSecret: 'a secret of the project',
      adminJwtSecret: 'a secret of the panel',
    }
    expect([read.secrets, read.missingSecrets]).toEqual([secrets, {}])
    expect((await withVariables({ JWT_SECRET: 'another secret' }, files)).secrets.jwtSecret).toBe('another secret')
    // The files are run once the variables of .env are in process.env.
    const inEnv = { 'config/plugins.js': "module.exports = { 'users-permissions': { config: { jwtSecret: process.env.USERS_SECRET } } }" }
    const own = await load(project({ ...notes, ...inEnv, '.env': 'USERS_SECRET=a secret in .env\nAPI_TOKEN_SALT=a salt of tokens\n' }))
    expect(own.secrets.jwtSecret).toBe('a secret in .env')
    const { missingSecrets, warnings } = await withVariables({}, { ...files, 'config/admin.js': "require('not-here').salt" })
    expect(Object.keys(missingSecrets)).toEqual(['API_TOKEN_SALT'])
    expect(warnings).toContainEqual(expect.stringMatching(/^apiToken\.salt in config\/admin is not read .*not-here.* set API_TOKEN_SALT$/))
  })

  rule('projects.26', 'the start names invalid settings and files that cannot be run', async () => {
    const warnings = async (files: object) => (await withVariables({}, files as Record<string, unknown>)).warnings
    const content = {
      'users-permissions': { config: { jwt: { expiresIn: 'soon' } } },
      upload: { config: { provider: 'aws-s3', providerOptions: { s3Options: { params: { Bucket: 'media' } } } } },
      email: { config: { provider: 'sendgrid' } },
    }
    expect(await warnings({ 'config/plugins.json': content })).toEqual([
      'users-permissions.jwt.expiresIn in config/plugins.json is not applied (it is "soon"). Set auth.jwtLifespan in octavo.config',
      expect.stringMatching(/^upload in config\/plugins.json is not applied \(.*uploads\.storage\.region or AWS_REGION.*uploads folder\)/),
      expect.stringMatching(/^email in config\/plugins.json is not applied \(the provider is "sendgrid"; e-mails are sent by SMTP\)/),
    ])
    const server = { url: 'content.example', proxy: true }
    expect(await warnings({ 'config/server.json': server })).toEqual([
      'url in config/server.json is not applied (it is "content.example"). Set url in octavo.config',
      'proxy in config/server.json is not applied (Strapi 5 reads proxy.koa). Set trustProxy in octavo.config',
    ])
    const partly = [
      { name: 'strapi::cors', config: { origin: ['https://a.example', 'a.example'] } },
      { name: 'strapi::body', config: { jsonLimit: '1gb' } },
    ]
    expect(await warnings({ 'config/middlewares.json': partly })).toEqual([
      expect.stringMatching(/^strapi::cors\.origin in .* is not applied \(only in part: "a\.example" is not an origin/),
      expect.stringMatching(/^strapi::body\.jsonLimit in .* is not applied \(it is "1gb"; a body has at most 500000000 bytes\)/),
    ])
    const broken = '{ "users-permissions": { "config": { "jwtSecret": s3cret } } }'
    const told = (await warnings({ 'config/plugins.json': broken })).join()
    expect(told).toMatch(/users-permissions\.jwtSecret in config\/plugins is not read .* set JWT_SECRET/)
    expect(told).not.toContain('s3cret')
    const origin = 'module.exports = [{ name: "strapi::cors", config: { origin: (ctx) => ctx.origin } }]'
    expect(await warnings({ 'config/middlewares.js': origin })).toEqual([
      'strapi::cors.origin in config/middlewares.js is not applied (it is a function). Set cors.origins in octavo.config',
    ])
    const unreadable = "const nothing = require('not-here')\nmodule.exports = { upload: { config: { sizeLimit: nothing } } }"
    expect(await warnings({ 'config/plugins.js': unreadable })).toEqual([
      expect.stringMatching(
        /^config\/plugins.js is not applied \(.*not-here.*\)\. Set in octavo.config what it changes of limits\.fileBytes$/,
      ),
    ])
    expect(await warnings({ 'config/plugins.js': "require('not-here') // same-origin, original" })).toEqual([])
  })
})

describe('OCTAVO_CONFIG', () => {
  const withBoth = (given: unknown, config: object = {}) =>
    withVariables({ OCTAVO_CONFIG: typeof given === 'string' ? given : JSON.stringify(given) }, { 'octavo.config.json': config })

  rule('projects.11', 'is merged over octavo.config: objects key by key, lists as a whole; other variables take precedence', async () => {
    const config = {
      port: 1400,
      cors: { origins: ['https://a.example'], headers: ['X-A'] },
      api: { rest: { maxLimit: 50, strictParams: true } },
    }
    const given = { port: 1500, cors: { origins: ['https://b.example'] }, api: { rest: { maxLimit: 60 } }, limits: { bodyBytes: 5_000 } }
    const loaded = await withBoth(given, config)
    expect(loaded).toMatchObject({ port: 1500, corsOrigins: ['https://b.example'], corsHeaders: ['X-A'], warnings: [] })
    expect(loaded.rest).toMatchObject({ maxLimit: 60, strictParams: true })
    expect(loaded.limits.bodyBytes).toBe(5_000)
    expect((await withVariables({ OCTAVO_CONFIG: '{"port":1500}', PORT: '1600' })).port).toBe(1600)
    expect((await withVariables({}, { '.env': 'OCTAVO_CONFIG={"port":1700}\n' })).port).toBe(1700)
    expect((await withVariables({ OCTAVO_CONFIG: '' })).port).toBe(1337)
  })

  test.each([
    ['{"port":', {}, /^OCTAVO_CONFIG is not valid JSON( at position \d+)?\.$/],
    ['{"mail":{"url":"smtps://name:secret@host"}} x', {}, /^OCTAVO_CONFIG is not valid JSON( at position \d+)?\.$/],
    ['[]', {}, /^OCTAVO_CONFIG must be a JSON object/],
    ['5', {}, /^OCTAVO_CONFIG must be a JSON object/],
    [{ port: 'x' }, {}, /^Invalid configuration \(OCTAVO_CONFIG, port\)/],
    [
      { cors: { orgins: '*' } },
      {},
      /^Invalid configuration \(OCTAVO_CONFIG, cors\): Unrecognized key: "orgins"; did you mean "origins"\?$/,
    ],
    [
      { cors: { origins: ['example.org'] } },
      {},
      /^Invalid configuration \(OCTAVO_CONFIG, cors\.origins\): "example\.org" is not an origin/,
    ],
    [{ api: { rest: { defaultLimit: 200 } } }, {}, /^Invalid configuration \(OCTAVO_CONFIG\): api\.rest\.defaultLimit is 200/],
    [{ api: { rest: { contract: 'both' } } }, {}, /api\.rest\.contract\): it must be one of specification, strapi\.$/],
    [{ log: {} }, { cors: { orgins: '*' } }, /^Invalid configuration \(octavo\.config\.json, cors\)/],
    [{ limits: { bodyBytes: 1 } }, { limits: { readQueue: 'x' } }, /^Invalid configuration \(octavo\.config\.json, limits\.readQueue\)/],
  ])('%j over %j', async (given, config, said) => {
    await expect(withBoth(given, config)).rejects.toThrow(said)
  })
})

describe('the database', () => {
  const strapiSqlite = {
    'config/database.cjs': `module.exports = ({ env }) => ({
      connection: { client: env('DATABASE_CLIENT', 'sqlite'), connection: { filename: env('DATABASE_FILENAME', 'content.db') } },
    })`,
  }
  const unreadable = { 'config/database.cjs': "require('not-here')" }
  const template = 'DATABASE_HOST=127.0.0.1\nDATABASE_PORT=1337\nDATABASE_NAME=strapi\nDATABASE_USERNAME=strapi\nDATABASE_PASSWORD=strapi\n'

  rule('projects.16', 'the client is what the URL of the server begins with, unless another setting says it', async () => {
    for (const [url, client] of [
      ['postgres://octavo:secret@127.0.0.1/octavo', 'postgres'],
      ['postgresql://octavo:se/cr@et@127.0.0.1/octavo', 'postgres'],
      ['mysql://octavo@127.0.0.1/octavo', 'mysql'],
      ['MariaDB://octavo@127.0.0.1/octavo', 'mysql'],
    ] as const) {
      expect((await withVariables({ DATABASE_URL: url })).database).toMatchObject({ client, server: { url } })
      expect((await withVariables({}, { '.env': `DATABASE_URL=${url}\n`, ...unreadable })).database).toMatchObject({
        client,
        server: { url },
      })
    }
    const named = { 'config/database.json': { connection: { client: 'mysql', connection: { host: 'db.example' } } } }
    const { database } = await withVariables({ DATABASE_URL: 'postgres://127.0.0.1/octavo' }, named)
    expect(database).toMatchObject({ client: 'mysql', server: { url: null, host: 'db.example' } })
    expect((await withVariables({ DATABASE_URL: '', DATABASE_HOST: '' })).database).toMatchObject({ client: 'sqlite', server: null })
  })

  rule('projects.16', "a socket that Strapi's config/database names is where the server is", async () => {
    const socketPath = '/cloudsql/project:region:instance'
    for (const [client, connection] of [
      ['mysql', { socketPath }],
      ['mysql', { host: 'db.example', socketPath }],
      ['postgres', { host: socketPath }],
    ] as const) {
      const { database } = await withVariables({}, { 'config/database.json': { connection: { client, connection } } })
      expect(database).toMatchObject({ client, server: { host: socketPath } })
    }
  })

  rule('projects.16', 'lines for a server have no effect with the client sqlite, as in Strapi', async () => {
    for (const files of [
      { '.env': `DATABASE_CLIENT=sqlite\n${template}` },
      { '.env': `DATABASE_CLIENT=sqlite\n${template}DATABASE_FILENAME=.tmp/data.db\n`, ...strapiSqlite },
      {
        '.env': 'DATABASE_CLIENT=sqlite\nDATABASE_HOST=\nDATABASE_PORT=\nDATABASE_NAME=\nDATABASE_FILENAME=.tmp/data.db\n',
        ...strapiSqlite,
      },
      { '.env': template, ...strapiSqlite },
      { '.env': 'DATABASE_URL=postgres://octavo@127.0.0.1/octavo\n', ...strapiSqlite },
      { '.env': 'DATABASE_URL=postgres://octavo@127.0.0.1/octavo\nDATABASE_CLIENT=sqlite\n' },
      { '.env': `${template}DATABASE_FILENAME=.tmp/data.db\n` },
      { '.env': template, '.tmp/data.db': '' },
    ])
      expect((await withVariables({}, files)).database).toMatchObject({ client: 'sqlite', server: null })
  })

  const url = 'postgres://octavo:secret@127.0.0.1/octavo'
  test.each<[Readonly<Record<string, string>>, Readonly<Record<string, unknown>>, string]>([
    [
      { DATABASE_HOST: 'db.example' },
      {},
      'DATABASE_HOST is set, but DATABASE_CLIENT is not. Set DATABASE_CLIENT to postgres or mysql, or to',
    ],
    [{ DATABASE_HOST: 'db.example' }, unreadable, 'DATABASE_HOST is set, but DATABASE_CLIENT is not.'],
    [{ DATABASE_URL: 'mongodb://me:secret@127.0.0.1/x' }, {}, 'DATABASE_URL begins with none of postgres://, mysql:// and mariadb://.'],
    [
      { DATABASE_CLIENT: 'postgres', DATABASE_URL: '127.0.0.1:5432/shop' },
      {},
      'DATABASE_URL is "127.0.0.1:5432/shop"; it must be a URL like postgres://',
    ],
    [{ DATABASE_CLIENT: 'mysql', DATABASE_URL: 'postgres://x@127.0.0.1/y' }, {}, 'it must be a URL like mysql://'],
    [{ DATABASE_URL: url, DATABASE_FILENAME: 'x.db' }, {}, 'DATABASE_FILENAME names a SQLite file, but DATABASE_URL names a server.'],
    [{ DATABASE_URL: url }, { 'octavo.config.json': { database: { filename: 'x.db' } } }, 'database.filename names a SQLite file, but'],
    [
      { DATABASE_URL: url },
      { '.tmp/data.db': '' },
      'There is a SQLite file at .tmp/data.db, but DATABASE_URL names a server. Set DATABASE_CLIENT',
    ],
  ])('%j with %j is refused', async (environment, files, said) => {
    const refusal = await withVariables(environment, files).then(
      () => 'it is taken',
      (error: Error) => error.message,
    )
    expect(refusal).toContain(said)
    expect(refusal).not.toContain('secret')
  })
})
