// Plans of changes of small models: docs/spec/model-plans.md.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { writeMysqlSql } from '../../src/database/server/mysql/translate-sql.js'
import { postgresDialect } from '../../src/database/server/postgres/dialect.js'
import { stepStatements } from '../../src/database/sqlite/change-statements.js'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import { possibleRenames } from '../../src/model/diff/possible-renames.js'
import { toExpression } from '../../src/model/diff/sql-text.js'
import { component, draftAndPublish, localized, model, shown, stepsOf, type } from './models.js'

const note = (attributes: Parameters<typeof type>[1]) => type('note', attributes)
const string = { type: 'string' }
const kinds = (plan: ReturnType<typeof planModelChange>) => plan.steps.map(({ kind }) => kind)

test('model-plans.1: a plan is plain data, and nothing changes between equal models', () => {
  const same = model(note({ body: string }))
  const empty = planModelChange(same, model(note({ body: string })), [])
  expect(empty).toEqual({ changes: [], steps: [], losses: [], conditions: [], kept: [], restoreBefore: null, responses: [] })
  const plan = planModelChange(same, model(note({}), type('book', { title: string })), [])
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
})

test('model-plans.7, model-plans.3: the column of a removed attribute is archived, and counted as a loss', () => {
  const plan = planModelChange(model(note({ body: string })), model(note({ title: string })), [], { number: 3 })
  expect(plan.changes).toEqual([
    { kind: 'attributeRemoved', schema: 'api::note.note', attribute: 'body', type: 'string' },
    { kind: 'attributeCreated', schema: 'api::note.note', attribute: 'title', type: 'string' },
  ])
  expect(stepsOf(plan.steps, 'keepColumn')).toMatchObject([
    { kind: 'keepColumn', risk: 'losesData', table: 'notes', column: { name: 'body' }, as: 'octavo_kept_3_body' },
  ])
  expect(stepsOf(plan.steps, 'addColumn')).toMatchObject([{ table: 'notes', column: { name: 'title', type: 'varchar(255)' } }])
  expect(plan.losses).toMatchObject([
    { name: 'api::note.note.body', kept: [{ kind: 'column', table: 'notes', name: 'body', as: 'octavo_kept_3_body' }] },
  ])
  expect(shown(plan.losses[0]!.count)).toBe('select count(*) as count from "notes" where "body" is not null')
})

test('model-plans.4: a declared rename keeps the column, and two attributes may exchange their names', () => {
  const from = model(note({ body: string, title: string }))
  const renamed = planModelChange(from, model(note({ text: string, title: string })), [
    { kind: 'attribute', schema: 'api::note.note', from: 'body', to: 'text' },
  ])
  expect(renamed.losses).toEqual([])
  expect(stepsOf(renamed.steps, 'renameColumn')).toMatchObject([{ table: 'notes', column: 'body', to: 'text' }])
  const exchanged = planModelChange(from, from, [
    { kind: 'attribute', schema: 'api::note.note', from: 'body', to: 'title' },
    { kind: 'attribute', schema: 'api::note.note', from: 'title', to: 'body' },
  ])
  const names = new Map(['body', 'title'].map((name) => [name, name]))
  for (const { column, to } of stepsOf(exchanged.steps, 'renameColumn')) {
    expect(names.has(to)).toBe(false)
    names.set(to, names.get(column)!)
    names.delete(column)
  }
  expect(Object.fromEntries(names)).toEqual({ body: 'title', title: 'body' })
})

test('model-plans.4: renames of missing names, and contradictory renames, are refused', () => {
  const from = model(note({ body: string, title: string }))
  const attribute = (before: string, after: string) => ({ kind: 'attribute' as const, schema: 'api::note.note', from: before, to: after })
  expect(() => planModelChange(from, from, [attribute('gone', 'title')])).toThrow('does not have it')
  expect(() => planModelChange(from, from, [attribute('body', 'lead')])).toThrow('has no attribute lead')
  expect(() => planModelChange(from, from, [attribute('body', 'title'), attribute('title', 'title')])).toThrow('contradict')
  expect(() => planModelChange(from, from, [{ kind: 'type', from: 'api::x.x', to: 'api::note.note' }])).toThrow('does not have it')
})

test('model-plans.4, model-plans.5: a renamed type keeps rows, links, components and permissions', () => {
  const schemas = (name: string) =>
    model(
      type(name, { body: string, box: { type: 'component', component: 'shared.link' } }),
      type('book', { notes: { type: 'relation', relation: 'oneToMany', target: `api::${name}.${name}` } }),
      component('link', { url: string }),
    )
  const plan = planModelChange(schemas('note'), schemas('memo'), [{ kind: 'type', from: 'api::note.note', to: 'api::memo.memo' }])
  expect(plan.losses).toEqual([])
  expect(stepsOf(plan.steps, 'renameTable')).toMatchObject([{ table: 'notes', to: 'memos' }])
  const moves = stepsOf(plan.steps, 'moveRows').map(({ from, to }) => [from, to])
  expect(moves).toEqual([
    ['octavo_kept_1_notes_cmps', 'memos_cmps'],
    ['octavo_kept_1_books_notes_lnk', 'books_notes_lnk'],
  ])
  expect(stepsOf(plan.steps, 'dropTable').map(({ table }) => table)).toEqual(moves.map(([from]) => from))
  expect(stepsOf(plan.steps, 'setValues').map(({ table, column }) => `${table}.${column}`)).toContain('up_permissions.action')
})

test('model-plans.6: a removed type is archived as a whole', () => {
  const plan = planModelChange(model(note({ body: string }), type('book', {})), model(type('book', {})), [])
  expect(stepsOf(plan.steps, 'keepTable')).toMatchObject([{ table: 'notes', as: 'octavo_kept_1_notes' }])
  expect(plan.losses.map(({ name }) => name)).toEqual(['api::note.note'])
  expect(kinds(plan)).not.toContain('dropTable')
  expect(plan.responses).toEqual(['/api/notes returns 404.'])
})

test('model-plans.8: a column is converted by a rule; values that do not convert are archived', () => {
  const plan = planModelChange(model(note({ a: string, b: { type: 'integer' } })), model(note({ a: { type: 'integer' }, b: string })), [])
  expect(stepsOf(plan.steps, 'convertColumn')).toMatchObject([
    { column: { name: 'a' }, conversion: { rule: 'integer' }, risk: 'losesData' },
    { column: { name: 'b' }, conversion: { rule: 'text' }, risk: 'slow' },
  ])
  expect(plan.losses.map(({ name }) => name)).toEqual(['api::note.note.a'])
  expect(plan.conditions).toMatchObject([{ name: 'api::note.note.a:type', kind: 'type' }])
})

test('model-plans.10: links move to the other side, and stay where the table stays', () => {
  const sides = (notes: object, tags: object) =>
    model(
      note({ tags: { type: 'relation', target: 'api::tag.tag', ...notes } }),
      type('tag', { notes: { type: 'relation', target: 'api::note.note', ...tags } }),
    )
  const many = sides({ relation: 'manyToMany', inversedBy: 'notes' }, { relation: 'manyToMany', mappedBy: 'tags' })
  const turned = sides({ relation: 'oneToMany', mappedBy: 'notes' }, { relation: 'manyToOne', inversedBy: 'tags' })
  const plan = planModelChange(many, turned, [])
  expect(stepsOf(plan.steps, 'moveRows')).toMatchObject([
    {
      to: 'tags_notes_lnk',
      columns: [
        { from: 'id', to: 'id' },
        { from: 'note_id', to: 'note_id' },
        { from: 'tag_id', to: 'tag_id' },
        { from: 'tag_ord', to: 'tag_ord' },
      ],
    },
  ])
  expect(plan.losses.map(({ name }) => name)).toEqual(['api::note.note.tags:inverseOrder'])
  expect(plan.conditions.map(({ name }) => name)).toEqual(['api::note.note.tags:singleOwner'])
  const oneWay = planModelChange(
    many,
    model(note({ tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' } }), type('tag', {})),
    [],
  )
  expect(kinds(oneWay)).toContain('keepColumn')
  expect(kinds(oneWay)).not.toContain('keepTable')
})

test('model-plans.10: links to another type are archived', () => {
  const to = (target: string) => model(note({ x: { type: 'relation', relation: 'oneToOne', target } }), type('a', {}), type('b', {}))
  const plan = planModelChange(to('api::a.a'), to('api::b.b'), [])
  expect(stepsOf(plan.steps, 'keepTable')).toMatchObject([{ table: 'notes_x_lnk', as: 'octavo_kept_1_notes_x_lnk' }])
  expect(stepsOf(plan.steps, 'createTable')).toMatchObject([{ table: { name: 'notes_x_lnk' } }])
  expect(plan.losses.map(({ name }) => name)).toEqual(['api::note.note.x'])
})

test('model-plans.12, model-plans.14: rows that go are copied before they are deleted', () => {
  const on = model(type('note', { body: string }, { ...draftAndPublish, ...localized }))
  const plan = planModelChange(on, model(note({ body: string })), [])
  expect(plan.losses.map(({ name }) => name)).toEqual(
    ['drafts', 'changes', 'onlyElsewhere', 'locales'].map((name) => `api::note.note:${name}`),
  )
  expect(kinds(plan).slice(0, 2)).toEqual(['keepRows', 'deleteRows'])
  const publishing = planModelChange(model(type('note', {}, draftAndPublish)), model(note({})), [], { neverPublished: 'publish' })
  expect(publishing.losses.map(({ name }) => name)).toEqual(['api::note.note:changes'])
})

test('model-plans.15: entries of another component are archived', () => {
  const holding = (name: string) => model(note({ box: { type: 'component', component: name } }), component('a', {}), component('b', {}))
  const plan = planModelChange(holding('shared.a'), holding('shared.b'), [])
  expect(stepsOf(plan.steps, 'setValues').map(({ table, value }) => [table, shown(value!)])).toEqual([
    ['notes_cmps', '"octavo_kept_1_box"'],
  ])
  expect(plan.losses.map(({ name }) => name)).toEqual(['api::note.note.box'])
})

test('model-plans.9: rules that are tightened have conditions, others have none', () => {
  const at = (maxLength: number, required: boolean) => model(note({ body: { type: 'string', maxLength, required } }))
  expect(planModelChange(at(10, false), at(20, false), []).conditions).toEqual([])
  const { conditions, steps } = planModelChange(at(10, false), at(5, true), [])
  expect(conditions.map(({ name }) => name)).toEqual(['api::note.note.body:required', 'api::note.note.body:length'])
  expect(steps.map(({ kind }) => kind)).toEqual(['storeContentTypes'])
})

test('model-plans.3: counts compile for every database', () => {
  const text = { type: 'string', maxLength: 10 }
  const from = model(type('note', { a: text, b: string, c: { type: 'string' } }, { ...draftAndPublish, ...localized }), type('book', {}))
  const to = model(note({ a: { ...text, maxLength: 5, unique: true, required: true }, b: { type: 'integer' }, c: { type: 'datetime' } }))
  const { losses, conditions } = planModelChange(from, to, [])
  const counts = [...losses, ...conditions].map(({ count }) => count)
  expect(counts.length).toBeGreaterThan(8)
  for (const count of counts) {
    const query = toExpression(count)
    const written = [sqliteDialect, postgresDialect].map((dialect) => dialect.compile(query))
    for (const { parameters } of written) expect(parameters).toEqual(count.values)
    expect(written[0]!.sql).toBe(count.text.join('?'))
    expect(written[1]!.sql).toBe(count.text.reduce((all, part, index) => `${all}$${index}${part}`))
    const { texts, bound } = writeMysqlSql(query)
    expect(bound.map(({ value }) => value)).toEqual(count.values)
    expect(texts.join('?')).not.toContain('as text)')
  }
})

test('model-plans.2: a column that may not be null is archived as nullable', () => {
  const column = { name: 'body', type: 'varchar(255)', notNull: true, increments: false, default: null } as const
  const database = new Database(':memory:')
  database.exec("create table notes (id integer primary key, body varchar(255) not null); insert into notes (body) values ('text')")
  const statements = stepStatements({ kind: 'keepColumn', risk: 'losesData', table: 'notes', column, as: 'octavo_kept_1_body' })
  for (const { sql } of statements) database.exec(sql)
  database.exec('insert into notes default values')
  expect(database.prepare('select octavo_kept_1_body from notes').pluck().all()).toEqual(['text', null])
})

test('model-plans.11: a relation that has one target from now on counts the rows that have several', () => {
  const tags = (relation: string) => model(note({ tags: { type: 'relation', relation, target: 'api::tag.tag' } }), type('tag', {}))
  const { conditions } = planModelChange(tags('oneToMany'), tags('oneToOne'), [])
  expect(conditions.map(({ name }) => name)).toEqual(['api::note.note.tags:single'])
  expect(planModelChange(tags('oneToOne'), tags('oneToMany'), []).conditions).toEqual([])
})

test('model-plans.11: a collection type that becomes a single type hides all documents but one', () => {
  const [list, single] = [model(note({ title: string })), model(type('note', { title: string }, { kind: 'singleType' }))]
  expect(planModelChange(list, single, []).losses.map(({ name }) => name)).toEqual(['api::note.note:single'])
  expect(planModelChange(single, list, []).losses).toEqual([])
})

test('model-plans.14: an attribute that becomes the same in all locales loses the values of the others', () => {
  const inLocales = (localized: boolean) => ({ type: 'string', pluginOptions: { i18n: { localized } } })
  const of = (localized: boolean) => model(type('note', { title: inLocales(localized) }, { pluginOptions: { i18n: { localized: true } } }))
  expect(planModelChange(of(true), of(false), []).losses.map(({ name }) => name)).toEqual(['api::note.note.title:locales'])
  expect(planModelChange(of(false), of(true), []).losses).toEqual([])
})

test('model-plans.16: rows go first, then columns and tables change, bookkeeping comes last', () => {
  const from = model(type('note', { body: string, count: string }, draftAndPublish))
  const { steps } = planModelChange(from, model(note({ count: { type: 'integer' }, title: string }), type('book', {})), [])
  const order = steps.map(({ kind }) => kind)
  const stages = [['keepRows', 'deleteRows'], ['keepColumn'], ['createTable', 'addColumn'], ['storeContentTypes']]
  const places = stages.map((stage) => stage.map((kind) => order.indexOf(kind as (typeof order)[number])))
  expect(places.flat()).not.toContain(-1)
  for (const [index, later] of places.slice(1).entries()) expect(Math.min(...later)).toBeGreaterThan(Math.max(...places[index]!))
  expect(Object.fromEntries(steps.map(({ kind, risk }) => [kind, risk]))).toMatchObject({ addColumn: 'safe', keepColumn: 'losesData' })
})

test('live-model.18: of attributes that lead elsewhere, or hold another kind of content, none is a rename', () => {
  const relation = (target: string, more: object = {}) => ({
    type: 'relation',
    relation: 'manyToOne',
    target: `api::${target}.${target}`,
    ...more,
  })
  const possible = (before: object, after: object) => {
    const of = (one: object) => model(type('note', { one } as never), type('book', {}), component('seo', {}), component('og', {}))
    const [from, to] = [
      of(before),
      model(type('note', { other: after } as never), type('book', {}), component('seo', {}), component('og', {})),
    ]
    return possibleRenames(planModelChange(from, to, []).changes, from, to).length
  }
  const seo = { type: 'component', component: 'shared.seo' }
  expect(possible(relation('book'), relation('book', { required: true }))).toBe(1)
  expect(possible(relation('book'), relation('note'))).toBe(0)
  expect(possible(relation('book'), relation('book', { relation: 'manyToMany' }))).toBe(0)
  expect(possible(seo, { ...seo, required: true, repeatable: false })).toBe(1)
  expect(possible(seo, { ...seo, component: 'shared.og' })).toBe(0)
  expect(possible(seo, { ...seo, repeatable: true })).toBe(0)
  expect(possible({ type: 'string', required: true }, { type: 'string' })).toBe(1)
  expect(possible({ type: 'string' }, { type: 'text' })).toBe(0)
})
