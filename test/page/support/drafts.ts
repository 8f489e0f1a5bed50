// Documents and random edits for tests of the form.
import fc from 'fast-check'
import type { DocumentStore } from '../../../admin/form/store.js'
import { createEntry, type Entry, keyOf, toLink } from '../../../admin/form/values.js'
import { shape } from './model-server.js'

type Row = Record<string, unknown>

/** A document of the model server. */
export const draft = (): Row => ({
  title: 'Mill',
  kicker: 'Water',
  summary: 'A mill at the sea',
  note: '',
  data: { nights: [1, 2] },
  seo: { id: 1, metaTitle: 'Mill', metaDescription: null },
  sections: [
    { id: 1, __component: 'block.text', heading: 'one', text: 'a', links: [{ id: 1, label: 'x', url: '/x' }] },
    { id: 1, __component: 'block.quote', text: 'two' },
    { id: 2, __component: 'block.text', heading: 'three', text: 'c', links: [] },
  ],
  links: [
    { id: 7, label: 'first', url: '/1' },
    { id: 8, label: 'second', url: '/2' },
  ],
  tags: [{ documentId: 'water' }, { documentId: 'night' }, { documentId: 'sea' }],
  author: { documentId: 'ana' },
  gallery: [{ id: 3 }, { id: 4 }],
})

/** A new section with a text. */
export const section = (text: string): Entry =>
  createEntry(shape, shape.components['block.text']!.attributes, {
    __component: 'block.text',
    heading: text,
    text: null,
    links: [{ label: text, url: '/' }],
  })

/** An edit of a form. Numbers choose entries and positions. */
export type Edit =
  | { readonly kind: 'type'; readonly field: 'title' | 'summary' | 'seo/metaTitle'; readonly text: string }
  | { readonly kind: 'heading' | 'label'; readonly which: number; readonly text: string }
  | { readonly kind: 'insert'; readonly at: number; readonly text: string }
  | { readonly kind: 'remove'; readonly which: number }
  | { readonly kind: 'move'; readonly which: number; readonly at: number }
  | { readonly kind: 'tag'; readonly which: number; readonly at: number }
  | { readonly kind: 'untag'; readonly which: number }
  | { readonly kind: 'undo' }
  | { readonly kind: 'redo' }

let words = 0
/** A text that no other edit has. */
const word = fc.constantFrom('a', 'b', 'c').map((letter) => `${letter}${++words}`)
const small = fc.nat({ max: 5 })

/** Edits of my fields; `undo` and `redo` only where asked for. */
export const anyEdit = (withUndo = false): fc.Arbitrary<Edit> =>
  fc.oneof(
    fc.record({
      kind: fc.constant('type' as const),
      field: fc.constantFrom('title' as const, 'summary' as const, 'seo/metaTitle' as const),
      text: word,
    }),
    fc.record({ kind: fc.constantFrom('heading' as const, 'label' as const), which: small, text: word }),
    fc.record({ kind: fc.constant('insert' as const), at: small, text: word }),
    fc.record({ kind: fc.constant('remove' as const), which: small }),
    fc.record({ kind: fc.constant('move' as const), which: small, at: small }),
    fc.record({ kind: fc.constant('tag' as const), which: small, at: small }),
    fc.record({ kind: fc.constant('untag' as const), which: small }),
    ...(withUndo ? [fc.constantFrom({ kind: 'undo' as const }, { kind: 'redo' as const })] : []),
  )

const listAt = (store: DocumentStore, path: string) => store.get(path) as readonly Entry[]

/** Carries out an edit. Those that concern nothing do nothing. */
export function perform(store: DocumentStore, edit: Edit): void {
  const sections = listAt(store, 'sections')
  const chosen = (list: readonly Entry[], which: number) => (list.length === 0 ? undefined : keyOf(list[which % list.length]))
  if (edit.kind === 'undo') store.undo()
  else if (edit.kind === 'redo') store.redo()
  else if (edit.kind === 'type') store.set(edit.field, edit.text)
  else if (edit.kind === 'insert') store.insert('sections', section(edit.text), edit.at % (sections.length + 1))
  else if (edit.kind === 'tag' || edit.kind === 'untag') performTag(store, edit)
  else {
    const key = chosen(sections, edit.which)
    if (key === undefined) return
    if (edit.kind === 'remove') store.remove(`sections/${key}`)
    else if (edit.kind === 'move') store.move(`sections/${key}`, edit.at % sections.length)
    else if (edit.kind === 'label') {
      const links = (store.get(`sections/${key}/links`) ?? []) as readonly Entry[]
      if (links.length > 0) store.set(`sections/${key}/links/${keyOf(links[0])}/label`, edit.text)
    } else store.set(`sections/${key}/${store.get(`sections/${key}/__component`) === 'block.text' ? 'heading' : 'text'}`, edit.text)
  }
}

function performTag(store: DocumentStore, edit: Extract<Edit, { kind: 'tag' | 'untag' }>): void {
  const tags = listAt(store, 'tags')
  if (edit.kind === 'untag') {
    if (tags.length > 0) store.remove(`tags/${keyOf(tags[edit.which % tags.length])}`)
    return
  }
  const link = toLink({ documentId: `tag${edit.which}` })
  const isThere = tags.some((tag) => keyOf(tag) === keyOf(link))
  if (isThere) store.move(`tags/${keyOf(link)}`, edit.at % tags.length)
  else store.insert('tags', link, edit.at % (tags.length + 1))
}
