// An entry whose component row is gone, as Strapi leaves some: it is not shown, and it is not copied to another version.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { type GoldenSender, serveSender } from './golden-sender.js'

let served: Served
let send: GoldenSender['send']
beforeAll(async () => {
  ;({ served, send } = await serveSender())
})
afterAll(() => served.close())

const sections = (...headings: string[]) => headings.map((heading) => ({ heading }))
const headingsOf = async (path: string): Promise<readonly string[]> =>
  (await send('GET', `${path}populate[sections]=true`)).data.sections.map(({ heading }: { heading: string }) => heading)

/** Entries of articles whose component row is gone. */
const dangling = () =>
  served.sql(`select id from articles_cmps where component_type = 'page.section'
    and not exists (select 1 from components_page_sections where components_page_sections.id = cmp_id)`)

test('publishing drops it, and it never shows the component of another document', async () => {
  const { documentId } = (await send('POST', 'articles?status=draft', { title: 'Half', sections: sections('first', 'second', 'third') }))
    .data
  const before = (await dangling()).length
  await served.sql("delete from components_page_sections where heading in ('second', 'third')")
  expect(await dangling()).toHaveLength(before + 2)
  await send('POST', `articles/${documentId}/actions/publish`)
  expect(await dangling()).toHaveLength(before + 2)

  const other = (await send('POST', 'articles', { title: 'Whole', sections: sections('mine', 'too', 'also') })).data
  expect(await headingsOf(`articles/${other.documentId}?`)).toEqual(['mine', 'too', 'also'])
  for (const status of ['draft', 'published']) expect(await headingsOf(`articles/${documentId}?status=${status}&`)).toEqual(['first'])
})
