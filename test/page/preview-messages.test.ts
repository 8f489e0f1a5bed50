// Messages of previewed pages: their form, their bounds, and the fields that they name.
import { expect } from 'vitest'
import { createDocumentStore } from '../../admin/form/store.js'
import { fieldOf, type PreviewMessage, readMessage } from '../../admin/screens/editor/preview-messages.js'
import { rule } from '../support/rule.js'

const field = (source: unknown) => readMessage({ type: 'octavoField', source })

rule('administration-preview.10', 'messages of another form are ignored', () => {
  for (const data of [undefined, null, 7, 'previewReady', [], { type: 'other' }, { type: 'octavoField' }])
    expect(readMessage(data)).toBeNull()
  for (const path of ['', 'a..b', 'a b', '"]', '../x', 'a/b', Array(51).fill('a').join('.')])
    expect(field(`documentId=d&path=${path}`)).toBeNull()
  expect(field(`documentId=d&path=title&more=${'x'.repeat(4_000)}`)).toBeNull()
  expect(field('documentId=d&path=seo.metaTitle&locale=de')).toEqual({
    kind: 'field',
    documentId: 'd',
    locale: 'de',
    path: ['seo', 'metaTitle'],
  })
})

rule('administration-preview.9', 'a page says that it listens, and whether it has its own script', () => {
  expect(readMessage({ type: 'previewReady' })).toEqual({ kind: 'ready', isConnected: false })
  expect(readMessage({ type: 'previewReady', octavo: true })).toEqual({ kind: 'ready', isConnected: true })
})

rule('administration-preview.10', 'a source is a field of the form, through entries, and the link for what is linked', () => {
  const shape = {
    attributes: {
      title: { type: 'string' },
      writer: { type: 'relation', relation: 'manyToOne' },
      tags: { type: 'relation', relation: 'manyToMany' },
      sections: { type: 'dynamiczone', components: ['block.text'] },
    },
    components: { 'block.text': { attributes: { heading: { type: 'string' } } } },
  }
  const data = {
    title: 'A',
    writer: { documentId: 'w', type: 'api::writer.writer' },
    tags: [{ documentId: 't1' }, { documentId: 't2' }],
    sections: [
      { id: 1, __component: 'block.text', heading: 'one' },
      { id: 2, __component: 'block.text', heading: 'two' },
    ],
  }
  const store = createDocumentStore({ shape, data, partial: [] })
  const form = { store, locale: 'en', saver: { state: { documentId: 'd' } } } as never
  const at = (source: string) => fieldOf(form, field(source) as PreviewMessage & { kind: 'field' })
  expect(at('documentId=d&path=title&locale=en')).toBe('title')
  expect(at('documentId=d&path=title')).toBe('title')
  expect(at('documentId=d&path=sections.1.heading')).toMatch(/^sections\/[^/]*2\/heading$/)
  expect(at('documentId=d&path=sections.7.heading')).toBe('sections')
  expect(at('documentId=d&path=writer.name')).toBe('writer')
  expect(at('documentId=d&path=tags.1.name')).toBe('tags')
  expect(at('documentId=other&path=title')).toBeNull()
  expect(at('documentId=d&path=title&locale=de')).toBeNull()
})
