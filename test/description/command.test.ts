// `octavo openapi`: the description as a file.
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { octavo, project, removeProjects, root } from '../start/command.js'
import { rule } from '../support/rule.js'
import { serveExisting } from '../support/serve.js'

afterAll(removeProjects)

const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    attributes: { title: { type: 'string' } },
  },
  'seed/access.json': { roles: { public: ['api::note.note.find'], authenticated: ['api::note.note.create'] } },
}

rule('openapi.13', 'everything needs no database; roles are described as they are served', async () => {
  const folder = project({ ...files, '.env': 'API_TOKEN_SALT=a-salt-for-this-test\nJWT_SECRET=a-secret-for-this-test\n' })
  const all = await octavo(['openapi', folder, '--all'], { PUBLIC_URL: 'https://cms.example.org' })
  expect([all.status, all.err]).toEqual([0, ''])
  const whole = JSON.parse(all.out)
  expect(Object.keys(whole.paths)).toEqual(expect.arrayContaining(['/notes', '/notes/{id}', '/users', '/upload']))
  expect(whole.servers).toEqual([{ url: 'https://cms.example.org/api' }])
  const early = await octavo(['openapi', folder])
  expect([early.status, early.err]).toEqual([1, expect.stringContaining('Start the service once')])

  const served = await serveExisting({ folder })
  const { body } = await served.request('/api/openapi.json')
  await served.close()
  const open = await octavo(['openapi', folder])
  expect(open.err).toBe('')
  const { servers: _own, info: _info, ...printed } = JSON.parse(open.out)
  const { servers: _served, info, ...rest } = body
  expect(printed).toEqual(rest)
  expect(info.title).toBe('Content API')
  const authenticated = JSON.parse((await octavo(['openapi', folder, '--role', 'authenticated'])).out)
  expect(Object.keys(authenticated.paths['/notes'])).toEqual(['post'])
  const wrong = await octavo(['openapi', folder, '--role', 'nobody'])
  expect([wrong.status, wrong.err]).toEqual([1, expect.stringContaining('There is no role "nobody"')])

  const file = join(folder, 'out', 'openapi.json')
  expect((await octavo(['openapi', folder, '--out', file])).out).toBe(`Wrote ${file}.\n`)
  expect((await octavo(['openapi', folder, '--check', '--out', file])).status).toBe(0)
  const other = await octavo(['openapi', folder, '--all', '--check', '--out', file])
  expect([other.status, other.err]).toEqual([
    1,
    `octavo: ${file} is out of date. Write it again: node ${join(root, 'dist', 'main.js')} openapi ${folder} --all --out ${file}\n`,
  ])
})
