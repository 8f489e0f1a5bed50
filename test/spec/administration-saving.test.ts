// Drafts saved by an editor: entries by id, operations on lists, preferences for the response and for values that cannot be stored.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { type Entry, nameOf, page, serveGallery } from './gallery.js'
import { type AdminClient, giveRights, signInClient } from './newsroom.js'

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveGallery()
  ada = await signInClient(served, 'ada@gallery.example')
})
afterAll(() => served?.close())

const pages = `/content/${page}`
const ifMatch = ({ headers }: TestResponse) => ({ 'if-match': headers.get('etag') ?? '' })
async function make(data: object): Promise<TestResponse> {
  const response = await ada.send('POST', pages, { data })
  if (response.status !== 201) throw new Error(response.text)
  return response
}
const pathOf = ({ body }: TestResponse): string => `${pages}/${body.data.documentId}`
const patch = (of: TestResponse, body: object, state = of, headers = {}, client = ada) =>
  client.send('PATCH', pathOf(of), body, { ...ifMatch(state), ...headers })
async function ok(sent: Promise<TestResponse>): Promise<TestResponse> {
  const response = await sent
  if (response.status >= 300) throw new Error(response.text)
  return response
}
const labels = (entries: readonly Entry[]) => entries.map(({ label, name }) => label ?? name)
const errorsOf = ({ body }: TestResponse): (readonly [string, string])[] =>
  body.error.details.errors.map(({ path, message }: { path: string[]; message: string }) => [path.join('/'), message])

rule('administration-saving.1', 'paths name entries by their ids, and positions stay valid', async () => {
  const made = await make({
    title: 'Ids',
    parts: [{ label: 'a' }, { label: 'b' }],
    groups: [{ name: 'g', parts: [{ label: 'p' }, { label: 'q' }], lead: { label: 'l', count: 1 } }],
    body: [
      { __component: 'block.part', label: 'z' },
      { __component: 'block.group', name: 'y', parts: [{ label: 'x' }] },
    ],
  })
  const { parts, groups, body } = made.body.data.draft
  const changed = await ok(
    patch(made, {
      changes: {
        [`parts/${nameOf(parts[1])}/label`]: 'B',
        [`groups/0/parts/${nameOf(groups[0].parts[0])}/label`]: 'P',
        [`groups/${'0'}/lead/label`]: 'L',
        [`body/${nameOf(body[1])}/name`]: 'Y',
        [`body/${nameOf(body[1])}/parts/0/label`]: 'X',
      },
    }),
  )
  expect(changed.body.data.draft).toMatchObject({
    parts: [
      { id: parts[0].id, label: 'a' },
      { id: parts[1].id, label: 'B' },
    ],
    groups: [{ id: groups[0].id, parts: [{ label: 'P' }, { label: 'q' }], lead: { id: groups[0].lead.id, label: 'L', count: 1 } }],
    body: [
      { id: body[0].id, label: 'z' },
      { id: body[1].id, name: 'Y', parts: [{ id: body[1].parts[0].id, label: 'X' }] },
    ],
  })
  // After a move the name leads to the same entry; the position does not.
  const moved = await ok(patch(made, { lists: { parts: [{ move: nameOf(parts[1]), at: 'start' }] } }, changed))
  const after = await ok(patch(made, { changes: { [`parts/${nameOf(parts[1])}/label`]: 'first', 'parts/1/label': 'second' } }, moved))
  expect(labels(after.body.data.draft.parts)).toEqual(['first', 'second'])
  for (const wrong of ['parts/#0', 'parts/#999999', `parts/${nameOf(body[0])}`, `body/#${body[0].id}`, 'parts/#', 'parts/00']) {
    const refused = await patch(made, { changes: { [`${wrong}/label`]: 'x' } }, after)
    expect([refused.status, errorsOf(refused)]).toEqual([400, [[wrong, `The path ${wrong} leads nowhere`]]])
  }
  const twice = await patch(made, { changes: { 'parts/0/label': 'x', [`parts/${nameOf(parts[1])}/count`]: 1 } }, after)
  expect(errorsOf(twice)).toEqual([[`parts/${nameOf(parts[1])}`, 'The same request names the entry in another way']])
  // Errors about values have the names of the request.
  const invalid = await patch(made, { changes: { [`parts/${nameOf(parts[0])}/count`]: 'x', 'body/1/parts/0/count': 'y' } }, after)
  expect(
    errorsOf(invalid)
      .map(([path]) => path)
      .sort(),
  ).toEqual(['body/1/parts/0/count', `parts/${nameOf(parts[0])}/count`])
})

rule('administration-saving.2', 'operations insert, move and remove entries, in their order and with other changes', async () => {
  const made = await make({
    title: 'Lists',
    parts: ['a', 'b', 'c'].map((label) => ({ label, count: 1 })),
    body: [
      { __component: 'block.group', name: 'g', parts: [{ label: 'p' }] },
      { __component: 'block.part', label: 'z' },
    ],
  })
  const { parts, body } = made.body.data.draft
  const [a, b, c] = parts.map(nameOf)
  const group = nameOf(body[0])
  const changed = await ok(
    patch(made, {
      changes: { title: 'Changed', [`parts/${c}/label`]: 'C' },
      lists: {
        parts: [
          { insert: { label: 'n' }, after: a, key: 'n' },
          { insert: { label: 'o' }, after: 'n', key: 'o' },
          { insert: { label: 'first' }, at: 'start', key: 'p' },
          { insert: { label: 'last' }, key: 'q' },
          { move: c, before: a },
          { remove: b },
        ],
        body: [
          { insert: { __component: 'block.group', name: 'new', parts: [{ label: '1' }, { label: '2' }] }, before: group, key: '7d0-x' },
          { move: group, at: 'end' },
        ],
        [`body/${group}/parts`]: [{ insert: { label: 'nested' }, at: 'start', key: 'n' }],
      },
    }),
  )
  const { draft } = changed.body.data
  expect([draft.title, labels(draft.parts)]).toEqual(['Changed', ['first', 'C', 'a', 'n', 'o', 'last']])
  expect(draft.parts[1]).toEqual({ ...parts[2], label: 'C' })
  expect(draft.parts[2]).toEqual(parts[0])
  expect(labels(draft.body)).toEqual(['new', 'z', 'g'])
  expect([nameOf(draft.body[2]), labels(draft.body[2].parts)]).toEqual([group, ['nested', 'p']])
  // Positions are those of the stored draft, whatever the operations before.
  const again = await ok(patch(made, { lists: { parts: [{ remove: '0' }, { move: '2', before: '1' }] } }, changed))
  expect(labels(again.body.data.draft.parts)).toEqual(['a', 'C', 'n', 'o', 'last'])
  // A list that another list's entries are named like.
  const empty = await ok(patch(made, { lists: { groups: [{ insert: { name: 'only' }, key: 'k' }], parts: [] } }, again))
  expect(labels(empty.body.data.draft.groups)).toEqual(['only'])
  // Without operations nothing is written.
  const none = await ok(patch(made, { lists: { parts: [] } }, empty))
  expect(none.body.data).toEqual(empty.body.data)
})

rule('administration-saving.2', 'of two administrators who insert at once, the second merges and succeeds', async () => {
  const made = await make({ title: 'Together', parts: [{ label: 'a' }] })
  const insert = (label: string) => ({ lists: { parts: [{ insert: { label }, after: nameOf(made.body.data.draft.parts[0]), key: 'k' }] } })
  const both = await Promise.all(['one', 'two'].map(async (label) => ({ label, response: await patch(made, insert(label)) })))
  expect(both.map(({ response }) => response.status).sort()).toEqual([200, 412])
  const refused = both.find(({ response }) => response.status === 412)!
  await ok(patch(made, insert(refused.label), refused.response))
  expect(labels((await ada.get(pathOf(made))).body.data.draft.parts)).toEqual(['a', refused.label, refused.label === 'one' ? 'two' : 'one'])
})

rule('administration-saving.3', 'operations that contradict each other or name nothing are refused with their paths', async () => {
  const made = await make({
    title: 'Wrong',
    parts: [{ label: 'a' }, { label: 'b' }],
    body: [{ __component: 'block.part', label: 'z' }],
  })
  const { parts, body } = made.body.data.draft
  const [a, b] = parts.map(nameOf)
  const refusals: readonly (readonly [object, string, string])[] = [
    [[{ move: '#999999', at: 'end' }], 'parts/#999999', 'The list has no entry #999999'],
    [[{ remove: nameOf(body[0]) }], `parts/${nameOf(body[0])}`, `The list has no entry ${nameOf(body[0])}`],
    [[{ remove: '2' }], 'parts/2', 'The list has no entry 2'],
    [[{ move: a, before: '#999999' }], `parts/${a}`, 'The list has no entry #999999'],
    [
      [
        { move: a, before: 'later' },
        { insert: {}, key: 'later' },
      ],
      `parts/${a}`,
      'The list has no entry later',
    ],
    [[{ move: a, after: b }, { remove: b }], `parts/${a}`, `The same request removes the entry ${b}`],
    [[{ insert: {}, key: 'k', after: b }, { remove: b }], 'parts/k', `The same request removes the entry ${b}`],
    [
      [
        { move: a, at: 'end' },
        { move: a, at: 'start' },
      ],
      `parts/${a}`,
      'The entry has two operations',
    ],
    [[{ remove: a }, { remove: '0' }], 'parts/0', 'The entry has two operations'],
    [[{ move: a, at: 'end' }, { remove: a }], `parts/${a}`, 'The entry has two operations'],
    [[{ move: a, after: a }], `parts/${a}`, 'An entry cannot be next to itself'],
    [[{ move: a }], `parts/${a}`, 'Name one of before, after and at'],
    [[{ move: a, at: 'end', before: b }], `parts/${a}`, 'Name one of before, after and at'],
    [
      [
        { insert: {}, key: 'k' },
        { insert: {}, key: 'k' },
      ],
      'parts/k',
      'The key k appears twice',
    ],
  ]
  for (const [operations, path, message] of refusals) {
    const refused = await patch(made, { lists: { parts: operations } })
    expect([refused.status, errorsOf(refused)]).toEqual([400, [[path, message]]])
  }
  const requests: readonly (readonly [object, string, string])[] = [
    [{ changes: { [`parts/${a}/label`]: 'x' }, lists: { parts: [{ remove: a }] } }, `parts/${a}`, 'The same request removes the entry'],
    [{ changes: { parts: [] }, lists: { parts: [{ remove: a }] } }, 'parts', 'The path parts is below another one'],
    [{ lists: { title: [{ remove: a }] } }, 'title', 'The path title leads nowhere'],
    [{ lists: { [`parts/${a}`]: [{ remove: a }] } }, `parts/${a}`, `The path parts/${a} leads nowhere`],
    [{ lists: { lead: [{ insert: {}, key: 'k' }] } }, 'lead', 'The path lead leads nowhere'],
    [{ changes: { [`parts/${a}`]: {} } }, `parts/${a}`, `The path parts/${a} leads nowhere`],
    [{ lists: { parts: [{ insert: { nothing: 1 }, key: 'new', at: 'start' }] } }, 'parts/new/nothing', 'Invalid key nothing at parts'],
    [{ lists: { groups: [{ insert: { parts: [{ count: 'x' }] }, key: 'new' }] } }, 'groups/new/parts/0/count', expect.any(String) as never],
  ]
  for (const [body, path, message] of requests) {
    const refused = await patch(made, body)
    expect([refused.status, errorsOf(refused)]).toEqual([400, [[path, message]]])
  }
  for (const operation of [
    {},
    { remove: a, move: b },
    { insert: {} },
    { insert: {}, key: '7' },
    { insert: {}, key: 'a/b' },
    { insert: 5, key: 'k' },
  ])
    expect((await patch(made, { lists: { parts: [operation] } })).status).toBe(400)
  expect((await patch(made, { lists: { parts: Array.from({ length: 1_001 }, () => ({ remove: a })) } })).status).toBe(400)
  expect((await ada.get(pathOf(made))).body.data.revision).toBe(made.body.data.revision)
  // Where there is no draft, nothing is revealed.
  expect((await ada.send('PATCH', `${pages}/nothing`, { lists: { parts: [{ remove: a }] } }, ifMatch(made))).status).toBe(404)
})

rule('administration-saving.4', 'rights by attribute hold for lists, and entries keep what is hidden when they move', async () => {
  const fields = (of: readonly string[]) => ({ properties: { fields: of, locales: null }, subject: page })
  await giveRights(served, 'labels', [
    { action: 'read', ...fields(['title', 'parts.label', 'lead.label']) },
    { action: 'update', ...fields(['title', 'parts.label', 'groups.name']) },
  ])
  const bob = await signInClient(served, 'bob@gallery.example', ['labels'])
  const made = await make({
    title: 'Rights',
    parts: [
      { label: 'a', count: 1 },
      { label: 'b', count: 2 },
    ],
    groups: [{ name: 'g' }],
  })
  const { parts, groups } = made.body.data.draft
  const [a, b] = parts.map(nameOf)
  const refusals: readonly (readonly [object, string])[] = [
    [{ changes: { [`parts/${a}/count`]: 5 } }, `parts/${a}/count`],
    [{ lists: { parts: [{ insert: { count: 1 }, key: 'k' }] } }, 'parts/k/count'],
    [{ lists: { parts: [{ remove: a }] } }, 'parts'],
    // Unreadable lists: neither their entries nor their number are revealed.
    [{ lists: { groups: [{ move: nameOf(groups[0]), at: 'end' }] } }, 'groups'],
    [{ changes: { [`groups/${nameOf(groups[0])}/name`]: 'x' } }, 'groups'],
    [{ lists: { body: [{ insert: { __component: 'block.part' }, key: 'k' }] } }, 'body'],
  ]
  for (const [body, path] of refusals) {
    const refused = await patch(made, body, made, {}, bob)
    expect([refused.status, errorsOf(refused).map(([at]) => at)]).toEqual([400, [path]])
  }
  const moved = await ok(
    patch(
      made,
      {
        changes: { [`parts/${a}/label`]: 'A' },
        lists: {
          parts: [
            { move: b, before: a },
            { insert: { label: 'n' }, key: 'n' },
          ],
        },
      },
      made,
      {},
      bob,
    ),
  )
  expect(moved.body.data.draft.parts.map((entry: object) => 'count' in entry)).toEqual([false, false, false])
  const { draft } = (await ada.get(pathOf(made))).body.data
  expect(draft.parts.map(({ label, count }: { label: string; count: number | null }) => [label, count])).toEqual([
    ['b', 2],
    ['A', 1],
    ['n', null],
  ])
  // Whoever sees all parts may remove the entry without values in others, and bring it back as it was.
  await giveRights(served, 'parts', [
    { action: 'read', subject: page },
    { action: 'update', ...fields(['parts.label']) },
  ])
  const cid = await signInClient(served, 'cid@gallery.example', ['parts'])
  const [b2, , n] = draft.parts.map(nameOf)
  const removal = (entry: string) => ({ lists: { parts: [{ remove: entry }] } })
  for (const [client, entry] of [
    [bob, n],
    [cid, b2],
  ] as const) {
    const kept = await patch(moved, removal(entry), moved, {}, client)
    expect([kept.status, errorsOf(kept).map(([at]) => at)]).toEqual([400, ['parts']])
  }
  const removed = await ok(patch(moved, removal(n), moved, {}, cid))
  const again = { insert: { label: 'n', count: null }, key: 'n' }
  const restored = await ok(patch(removed, { lists: { parts: [again] } }, removed, {}, cid))
  expect(restored.body.data.draft.parts.map(({ label }: { label: string }) => label)).toEqual(['b', 'A', 'n'])
})

const minimal = { prefer: 'return=minimal' }

/** Checks that a minimal response describes the stored document. */
async function expectStored(response: TestResponse, path: string): Promise<void> {
  const { draft, published, locales, may, more, ...data } = (await ada.get(path)).body.data
  const { updatedAt, publishedAt } = locales[0]
  expect(response.headers.get('preference-applied')).toBe('return=minimal')
  expect(response.headers.get('etag')).toBe(`"${data.revision}"`)
  const { ids, uids, ...written } = response.body.data
  expect(written).toEqual({
    ...written,
    documentId: data.documentId,
    locale: null,
    revision: data.revision,
    state: data.state,
    updatedAt,
    publishedAt,
  })
}

rule('administration-saving.5', 'a minimal response has the revision, state, times and generated values', async () => {
  const parts = [{ label: 'a' }, { label: 'b' }]
  const made = await ada.send(
    'POST',
    pages,
    { data: { title: 'Minimal page', parts, body: [{ __component: 'block.group', parts }] } },
    minimal,
  )
  const path = pathOf(made)
  await expectStored(made, path)
  const stored = (await ada.get(path)).body.data.draft
  expect([made.status, made.body.data.uids]).toEqual([201, { slug: 'minimal-page' }])
  expect(made.body.data.ids).toEqual({
    'parts/0': stored.parts[0].id,
    'parts/1': stored.parts[1].id,
    'body/0': stored.body[0].id,
    'body/0/parts/0': stored.body[0].parts[0].id,
    'body/0/parts/1': stored.body[0].parts[1].id,
  })
  const group = nameOf(stored.body[0])
  const changed = await patch(
    made,
    {
      changes: { lead: { label: 'l' }, [`body/${group}/lead`]: { label: 'm' }, [`parts/${nameOf(stored.parts[0])}/label`]: 'A' },
      lists: {
        parts: [{ insert: { label: 'new' }, at: 'start', key: 'k1' }],
        groups: [{ insert: { name: 'g', parts, lead: {} }, key: 'k1' }],
        [`body/${group}/parts`]: [{ insert: { label: 'k2' }, after: '0', key: 'k2' }],
      },
    },
    made,
    minimal,
  )
  await expectStored(changed, path)
  const { draft } = (await ada.get(path)).body.data
  expect(changed.body.data.uids).toEqual({})
  expect(changed.body.data.ids).toEqual({
    lead: draft.lead.id,
    [`body/${group}/lead`]: draft.body[0].lead.id,
    'parts/k1': draft.parts[0].id,
    'groups/k1': draft.groups[0].id,
    'groups/k1/lead': draft.groups[0].lead.id,
    'groups/k1/parts/0': draft.groups[0].parts[0].id,
    'groups/k1/parts/1': draft.groups[0].parts[1].id,
    [`body/${group}/parts/k2`]: draft.body[0].parts[1].id,
  })
  expect(labels(draft.body[0].parts)).toEqual(['a', 'k2', 'b'])
  let state = changed
  for (const [act, expected] of [
    ['publish', 'published'],
    ['unpublish', 'draft'],
    ['publish', 'published'],
  ]) {
    state = await ok(ada.send('POST', `${path}/${act}`, undefined, { ...ifMatch(state), ...minimal }))
    await expectStored(state, path)
    expect([act, state.body.data.state]).toEqual([act, expected])
  }
  state = await ok(patch(made, { changes: { title: 'Other' } }, state, minimal))
  await expectStored(state, path)
  expect([state.body.data.state, state.body.data.publishedAt]).toEqual(['changed', expect.any(String)])
  const none = await ok(patch(made, { changes: {} }, state, minimal))
  await expectStored(none, path)
  state = await ok(ada.send('POST', `${path}/discard`, undefined, { ...ifMatch(none), ...minimal }))
  await expectStored(state, path)
  expect(state.body.data.state).toBe('published')
  // Errors and other preferences.
  const outdated = await patch(made, { changes: { title: 'x' } }, made, minimal)
  expect([outdated.status, outdated.body.error.details.document.draft.title]).toEqual([412, 'Minimal page'])
  for (const prefer of ['return=representation, return=minimal', 'return', 'respond-async', '=,;"'])
    expect((await ok(patch(made, { changes: {} }, state, { prefer }))).body.data.draft.title).toBe('Minimal page')
  for (const prefer of ['wait=5, RETURN="minimal"; x=1', 'return=minimal, return=representation'])
    expect((await ok(patch(made, { changes: {} }, state, { prefer }))).body.data.draft).toBe(undefined)
})

rule('administration-saving.5', 'the revision is that of the write, whatever others write afterwards', async () => {
  const made = await make({ title: 'Crowd' })
  const revisions = new Map([[made.body.data.revision as string, 'Crowd']])
  let writes = 0
  // Each administrator repeats with the revision of a minimal response: no write is lost between two.
  const write = async (name: string): Promise<void> => {
    let state = made
    for (let round = 0; round < 10; round++) {
      const response = await patch(made, { changes: { title: `${name}${round}` } }, state, minimal)
      if (response.status === 200) {
        writes++
        expect(revisions.has(response.body.data.revision)).toBe(false)
        revisions.set(response.body.data.revision, `${name}${round}`)
      }
      state = response
    }
  }
  await Promise.all(['a', 'b', 'c'].map(write))
  expect(writes).toBeGreaterThan(0)
  expect(revisions.size).toBe(writes + 1)
  const { revision, draft } = (await ada.get(pathOf(made))).body.data
  expect(revisions.get(revision)).toBe(draft.title)
})

rule('administration-saving.6', 'a document is made with its first value, once', async () => {
  const once = { ...minimal, 'idempotency-key': 'first-value' }
  const [one, two] = await Promise.all([1, 2].map(() => ada.send('POST', pages, { data: { kind: 'note' } }, once)))
  const made = [one!, two!].find(({ status }) => status === 201)!
  // The other one was sent during the first, or has its response.
  expect([one!.status, two!.status].filter((status) => status !== 201 && status !== 409)).toEqual([])
  const again = await ada.send('POST', pages, { data: { kind: 'note' } }, once)
  expect([again.status, again.text, again.headers.get('preference-applied')]).toEqual([201, made.text, 'return=minimal'])
  expect((await ada.send('POST', pages, { data: { kind: 'note' } }, { 'idempotency-key': 'first-value' })).status).toBe(422)
  expect((await ada.get(`${pages}/total?filters[kind]=note`)).body.data.total).toBe(1)
})

const lenient = { prefer: 'handling=lenient' }
const refusedOf = ({ body }: TestResponse): string[] =>
  body.refused.map(({ path, code }: { path: string[]; code: string }) => `${path.join('/')} ${code}`).sort()

rule('administration-saving.7', 'a lenient change stores what it can and names the rest', async () => {
  const taken = await make({ title: 'Taken', code: 'taken' })
  await ok(ada.send('POST', `${pathOf(taken)}/publish`, undefined, ifMatch(taken)))
  const made = await make({ title: 'Lenient', parts: [{ label: 'a', count: 1 }], body: [{ __component: 'block.group', name: 'g' }] })
  const { parts, body } = made.body.data.draft
  const [a, group] = [nameOf(parts[0]), nameOf(body[0])]
  const changes = {
    title: 'Stored',
    kind: 'none',
    nothing: 1,
    locale: 'de',
    related: ['nobody'],
    lead: { label: 'kept', count: 'x' },
    groups: [{ name: 'kept', parts: [{ count: {} }, { label: 'kept' }] }],
    [`parts/${a}/label`]: 'A',
    [`parts/${a}/count`]: 'x',
    'parts/#999999/label': 'x',
    [`body/${group}/name`]: { not: 'a text' },
    [`body/${group}/parts`]: [{ label: 'p' }],
  }
  const lists = {
    parts: [
      { insert: { label: 'n', count: 'x' }, key: 'n' },
      { insert: { nothing: 1, label: 'o' }, after: 'n', key: 'o' },
      { move: '#999999', at: 'end' },
      { insert: { label: 'after nothing' }, after: '#999999', key: 'lost' },
    ],
    body: [
      { insert: { __component: 'block.none' }, key: 'k1' },
      { insert: { label: 'no component' }, key: 'k2' },
      { insert: { __component: 'block.part', label: 'z' }, key: 'k3' },
    ],
  }
  // Strict: everything is refused.
  const strict = await patch(made, { changes, lists })
  expect(strict.status).toBe(400)
  expect((await ada.get(pathOf(made))).body.data.revision).toBe(made.body.data.revision)
  const response = await ok(patch(made, { changes, lists }, made, lenient))
  expect(response.headers.get('preference-applied')).toBe('handling=lenient')
  expect(refusedOf(response)).toEqual(
    [
      'kind enum',
      'nothing unknown',
      'locale forbidden',
      'related notFound',
      'lead/count type',
      'groups/0/parts/0/count type',
      `parts/${a}/count type`,
      'parts/#999999/label unknown',
      'parts/#999999 notFound',
      'parts/lost notFound',
      'parts/n/count type',
      'parts/o/nothing unknown',
      `body/${group}/name type`,
      'body/k1/__component enum',
      'body/k2/__component required',
    ].sort(),
  )
  const { draft } = response.body.data
  expect(draft).toMatchObject({ title: 'Stored', kind: null, related: [], lead: { label: 'kept', count: null } })
  expect(draft.groups).toMatchObject([{ name: 'kept', parts: [{ label: null, count: null }, { label: 'kept' }] }])
  expect(draft.parts).toMatchObject([{ label: 'A', count: 1 }, { label: 'n', count: null }, { label: 'o' }])
  expect(draft.body).toMatchObject([{ name: 'g', parts: [{ label: 'p' }] }, { label: 'z' }])
  // Nothing refused.
  const fine = await ok(patch(made, { changes: { title: 'Fine' } }, response, lenient))
  expect([fine.body.refused, fine.body.data.draft.title]).toEqual([[], 'Fine'])
  // Nothing left.
  const none = await patch(
    made,
    { changes: { kind: 'none', related: ['nobody'] }, lists: { parts: [{ remove: '#999999' }] } },
    fine,
    lenient,
  )
  expect([none.status, none.headers.get('preference-applied')]).toEqual([400, null])
  expect(
    errorsOf(none)
      .map(([path]) => path)
      .sort(),
  ).toEqual(['kind', 'parts/#999999', 'related'])
  expect((await ada.get(pathOf(made))).body.data.revision).toBe(fine.body.data.revision)
  // A minimal response has both.
  const both = await ok(patch(made, { changes: { kind: 'none', title: 'Both' } }, fine, { prefer: 'return=minimal, handling=lenient' }))
  expect([both.headers.get('preference-applied'), both.body.data.state]).toEqual(['return=minimal, handling=lenient', 'draft'])
  expect(refusedOf(both)).toEqual(['kind enum'])
  const outdated = await patch(made, { changes: { kind: 'none', title: 'x' } }, fine, lenient)
  expect(outdated.status).toBe(412)
})

rule('administration-saving.7', 'a lenient change with too many errors stores nothing', async () => {
  const made = await make({ title: 'Many' })
  const wrong = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`nothing${index}/x`, 1]))
  for (const changes of [wrong(101), Object.fromEntries(Object.keys(wrong(150)).map((path) => [path.replace('/x', ''), 1]))]) {
    const refused = await patch(made, { changes: { ...changes, title: 'Stored' } }, made, lenient)
    expect(refused.status).toBe(400)
  }
  expect((await ada.get(pathOf(made))).body.data.draft.title).toBe('Many')
  const stored = await ok(patch(made, { changes: { ...wrong(100), title: 'Stored' } }, made, lenient))
  expect([stored.body.refused.length, stored.body.data.draft.title]).toEqual([100, 'Stored'])
})

rule('administration-saving.7', 'a component without its id is a new entry; with it, what is refused keeps its stored value', async () => {
  const made = await make({ title: 'Whole', lead: { label: 'stored', count: 1 } })
  const { id } = made.body.data.draft.lead
  const kept = await ok(patch(made, { changes: { lead: { id, label: 'kept', count: 'x' } } }, made, lenient))
  expect(refusedOf(kept)).toEqual(['lead/count type'])
  expect(kept.body.data.draft.lead).toMatchObject({ label: 'kept', count: 1 })
  const replaced = await ok(patch(made, { changes: { lead: { label: 'new', count: 'x' } } }, kept, lenient))
  expect(refusedOf(replaced)).toEqual(['lead/count type'])
  expect(replaced.body.data.draft.lead).toMatchObject({ label: 'new', count: null })
})

rule('administration-saving.7', 'links and entries that name nothing are left out alone', async () => {
  const made = await make({ title: 'Links', parts: [{ label: 'a' }] })
  const other = await make({ title: 'Other', parts: [{ label: 'b' }] })
  const [foreign] = other.body.data.draft.parts
  for (const related of [
    [{}],
    'nobody',
    { connect: [{ documentId: 'nobody' }] },
    { set: [{ id: 999_999 }] },
    999_999,
    [other.body.data.documentId, 'nobody'],
  ]) {
    const state = await ada.get(pathOf(made))
    const response = await ok(patch(made, { changes: { related, title: JSON.stringify(related) } }, state, lenient))
    expect([related, response.body.refused.map(({ path }: { path: string[] }) => path)]).toEqual([related, [['related']]])
    expect(response.body.data.draft).toMatchObject({ title: JSON.stringify(related), related: [] })
  }
  const state = await ada.get(pathOf(made))
  const response = await ok(
    patch(
      made,
      { changes: { parts: [{ id: foreign.id, label: 'stolen' }], body: [{ __component: 'block.part', id: foreign.id }], title: 'Own' } },
      state,
      lenient,
    ),
  )
  expect(refusedOf(response)).toEqual(['body/0 notFound', 'parts/0 notFound'])
  expect(response.body.data.draft).toMatchObject({ title: 'Own', parts: [{ label: 'a' }], body: [] })
})

rule('administration-saving.7', 'values that are unique, required or not permitted are left out', async () => {
  // Types without drafts are published by each write.
  const notes = '/content/api::note.note'
  const note = await ada.send('POST', notes, { data: { text: 'one', code: 'first' } })
  await ok(ada.send('POST', notes, { data: { text: 'two', code: 'second' } }))
  const path = `${notes}/${note.body.data.documentId}`
  const changed = await ok(ada.send('PATCH', path, { changes: { text: null, code: 'second', count: 5 } }, { ...ifMatch(note), ...lenient }))
  expect(refusedOf(changed)).toEqual(['code unique', 'text required'])
  expect(changed.body.data.draft).toMatchObject({ text: 'one', code: 'first', count: 5 })
  await giveRights(served, 'some', [
    { action: 'read', subject: page },
    { action: 'update', subject: page, properties: { fields: ['title', 'parts.label'], locales: null } },
  ])
  const bob = await signInClient(served, 'bob@lenient.example', ['some'])
  const made = await make({
    title: 'Some',
    parts: [
      { label: 'a', count: 1 },
      { label: 'b', count: 2 },
    ],
  })
  const [a, b] = made.body.data.draft.parts.map(nameOf)
  const response = await ok(
    patch(
      made,
      {
        changes: { title: 'Permitted', kind: 'note', slug: 'x', code: 'x', [`parts/${a}/count`]: 2, [`parts/${a}/label`]: 'A', lead: {} },
        lists: { parts: [{ remove: b }, { insert: { label: 'n', count: 1 }, key: 'n' }], groups: [{ insert: {}, key: 'k' }] },
      },
      made,
      lenient,
      bob,
    ),
  )
  expect(refusedOf(response).map((one) => one.split(' ')[0])).toEqual([
    ...['code', 'groups/k', 'kind', 'lead', `parts/${b}`, `parts/${a}/count`, 'parts/n/count', 'slug'].sort(),
  ])
  expect(response.body.data.draft).toMatchObject({
    title: 'Permitted',
    kind: null,
    parts: [{ label: 'A', count: 1 }, { label: 'b' }, { label: 'n' }],
  })
})
