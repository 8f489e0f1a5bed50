// docs/spec/fields.md: which scalar attributes a document shows.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { readOnly } from './magazine.js'

let magazine: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
})
afterAll(() => magazine.close())

const first = async (query: string) => (await magazine.request(`/api/articles?${query}`)).body.data[0]
const keys = async (query: string) => Object.keys(await first(query))
const refusal = async (query: string) => {
  const { status, body } = await magazine.request(`/api/articles?${query}`)
  return [status, body.error.name, body.error.message]
}

rule('fields.1', 'every writing of a list selects the same attributes, in the order of the schema', async () => {
  for (const query of [
    'fields[0]=kicker&fields[1]=title',
    'fields[]=kicker&fields[]=title',
    'fields=kicker,title',
    'fields=kicker&fields=title',
  ]) {
    const document = await first(query)
    expect(Object.keys(document)).toEqual(['id', 'documentId', 'title', 'kicker'])
    expect(document).toMatchObject({ title: 'Last Tram to Orla Hill', kicker: 'Four nights on line 9' })
  }
})

rule('fields.1', 'spaces around names, repeated names and id itself change nothing', async () => {
  expect(await keys('fields=%20title%20,id,title')).toEqual(['id', 'documentId', 'title'])
  expect(await keys('fields[0]=documentId')).toEqual(['id', 'documentId'])
})

rule('fields.2', 'the star selects the default fields', async () => {
  const everything = await first('')
  expect(await first('fields=*')).toEqual(everything)
  expect(await first('fields[0]=*')).toEqual(everything)
  expect(await first('fields[0]=title&fields[1]=*')).toEqual(everything)
  expect(Object.keys(everything)).toEqual(
    'id documentId title slug kicker summary body background format readingMinutes reportedOn reads featured fieldwork createdAt updatedAt publishedAt locale'.split(
      ' ',
    ),
  )
})

rule('fields.3', 'times and locale are included if selected', async () => {
  expect(await keys('fields=title')).toEqual(['id', 'documentId', 'title'])
  const document = await first('fields=locale,publishedAt,updatedAt,createdAt')
  expect(Object.keys(document)).toEqual(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'locale'])
  expect(document.publishedAt).toBe('2025-03-14T06:00:00.000Z')
})

rule('fields.4', 'only readable scalars can be selected', async () => {
  for (const name of [
    'author',
    'cover',
    'seo',
    'extras',
    'tags',
    'editorNote',
    'nope',
    'created_at',
    'author.name',
    'createdBy',
    'Title',
  ]) {
    for (const query of [`fields=${name}`, `fields[0]=title&fields[1]=${name}`])
      expect(await refusal(query)).toEqual([400, 'ValidationError', `Invalid key ${name}`])
  }
  expect((await magazine.request('/api/events?fields=streamPassword')).body.error.message).toBe('Invalid key streamPassword')
})

rule('fields.5', 'other structures are refused', async () => {
  for (const query of ['fields[a]=title', 'fields[0][0]=title', 'fields[0]=title,kicker', 'fields=', 'fields[0]='])
    expect(await refusal(query)).toEqual([400, 'ValidationError', expect.any(String)])
})

rule('fields.6', 'fields work on one document, a single type and a populated level', async () => {
  const { documentId } = await first('')
  const one = (await magazine.request(`/api/articles/${documentId}?fields=title&populate[author][fields][0]=name`)).body.data
  expect(Object.keys(one)).toEqual(['id', 'documentId', 'title', 'author'])
  expect(Object.keys(one.author)).toEqual(['id', 'documentId', 'name'])
  const setting = (await magazine.request('/api/setting?fields=siteName,foundedOn')).body.data
  expect(setting).toEqual({ id: setting.id, documentId: setting.documentId, siteName: 'Tidewright', foundedOn: '2024-11-01' })
})

rule('fields.7', 'the sort key of rows found through a relation is included', async () => {
  expect(await keys('fields=slug&filters[author][name]=Emil%20Sarovic&sort=title')).toEqual(['id', 'documentId', 'title', 'slug'])
  expect(await keys('fields=slug&filters[format]=report&sort=title')).toEqual(['id', 'documentId', 'slug'])
  const { tags } = await first('populate[tags][fields]=slug&populate[tags][sort]=name')
  expect(Object.keys(tags[0])).toEqual(['id', 'documentId', 'name', 'slug'])
})
