// O45: a relation to many types names no rows of types outside the content, such as tokens, roles and users of the admin panel, to any caller.
import { describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { attackFixture, model } from './fixture.js'

/** Everything but the project's types, files and users. */
const closed = [...model.types.values()].filter(
  ({ uid, exposed }) => !exposed && uid !== 'plugin::upload.file' && uid !== 'plugin::users-permissions.user',
)

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request, change, look } = attackFixture(contract)
  const send = (method: string, path: string, data: object) =>
    request(path, { as: 'full', method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

  rule('relations.15', 'bodies that name such rows are refused', async () => {
    expect(closed.length).toBeGreaterThan(5)
    const before = await look('select count(*) from comments')
    for (const { uid } of closed) {
      const entry = { id: 1, __type: uid }
      for (const data of [{ subjects: { connect: [entry] } }, { subjects: { set: [entry] } }, { subjects: [entry] }, { subject: entry }]) {
        const { status } = await send('POST', '/comments?populate=*', { body: 'x', ...data })
        expect([uid, data, status]).toEqual([uid, data, 400])
      }
    }
    expect(await look('select count(*) from comments')).toEqual(before)
  })

  rule('relations.15', 'rows that a database has are not shown and not counted', async () => {
    const { body } = await send('POST', '/comments', { body: 'names everything' })
    const { id, documentId } = body.data
    for (const [place, { uid }] of closed.entries())
      await change(
        `insert into comments_subjects_mph (comment_id, subjects_id, subjects_type, field, "order") values (?, 1, ?, 'subjects', ?)`,
        ...[id, uid, place],
      )
    await change('update comments set target_id = 1, target_type = ? where id = ?', 'admin::api-token', id)
    const read = async (query: string) => (await request(`/comments/${documentId}?${query}`, { as: 'full' })).body.data
    for (const query of ['populate=*', 'populate=subjects,subject', 'populate[subjects]=true&populate[subject]=true'])
      expect([query, await read(query)]).toMatchObject([query, { subjects: [], subject: null }])
    for (const { uid } of closed)
      for (const level of ['true', '*']) {
        const found = await read(`populate[subjects][on][${uid}]=${level}`)
        expect([uid, found?.subjects ?? []]).toEqual([uid, []])
      }
    expect(await read('populate[subjects][count]=true')).toMatchObject({ subjects: { count: 0 } })
  })
})
