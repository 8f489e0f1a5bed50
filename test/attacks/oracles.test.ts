// Attacks on values that may not be read: no filter, sort key or selection reaches them, under
// either contract and any name.
import { describe, expect, test } from 'vitest'
import type { Parameter } from './fixture.js'
import { attackFixture, expectInvalidKey } from './fixture.js'

type Refusal = readonly [request: string, param: Parameter, key: string, path: string | null]

const operators =
  '$eq $eqi $ne $nei $lt $lte $gt $gte $in $notIn $contains $notContains $containsi $notContainsi $startsWith $startsWithi $endsWith $endsWithi $null $notNull $between $not'
/** Operators that cannot end a path, and unknown keys: they are reported before unreadable attributes. */
const misplaced = '$and $or'
const strangers = '$regex $where $like $jsonSupersetOf $elemMatch $expr'

const encoded = encodeURIComponent

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request: sendRequest } = attackFixture(contract)
  const refused = async ([request, param, key, path]: Refusal) => expectInvalidKey(await sendRequest(request), param, key, path)

  test('S001 a private attribute cannot be compared', async () => {
    await refused(['/articles?filters[internalNote][$startsWith]=a', 'filters', 'internalNote', 'internalNote'])
    await refused(['/articles?filters[internalNote]=a', 'filters', 'internalNote', 'internalNote'])
    await refused(['/articles?filters[$or][0][$not][internalNote][$null]=true', 'filters', 'internalNote', 'internalNote'])
  })

  test('S002 a password cannot be compared, not even its hash', async () => {
    await refused(['/articles?filters[secretCode][$startsWith]=$2', 'filters', 'secretCode', 'secretCode'])
  })

  test('S004 no operator, of the specification or of other products, compares what may not be read', async () => {
    for (const attribute of ['internalNote', 'secretCode']) {
      for (const operator of `${operators} ${misplaced}`.split(' ')) {
        await refused([`/articles?filters[${attribute}][${operator}]=a`, 'filters', attribute, attribute])
      }
      for (const operator of strangers.split(' ')) {
        await refused([`/articles?filters[${attribute}][${operator}]=a`, 'filters', operator, attribute])
      }
    }
  })

  test('S004 an operator that the specification does not have is refused on a readable attribute too', async () => {
    for (const operator of '$regex $where $like $jsonSupersetOf $EQ $Contains'.split(' ')) {
      await refused([`/articles?filters[title][${operator}]=a`, 'filters', operator, 'title'])
    }
  })

  test('S005 a private attribute or password cannot be compared through a relation', async () => {
    await refused(['/articles?filters[author][salary][$gt]=1', 'filters', 'salary', 'author.salary'])
    await refused(['/articles?filters[author][pin][$null]=true', 'filters', 'pin', 'author.pin'])
    await refused(['/articles?filters[$and][0][author][$not][salary]=1', 'filters', 'salary', 'author.salary'])
    await refused([
      '/authors?filters[articles][author][articles][secretCode]=1',
      'filters',
      'secretCode',
      'articles.author.articles.secretCode',
    ])
    await refused(['/articles?populate[author][filters][salary][$gt]=1', 'populate', 'salary', 'salary'])
  })

  test('S007 nothing unreadable can be sorted by, in any spelling of sort', async () => {
    await refused(['/articles?sort=internalNote', 'sort', 'internalNote', 'internalNote'])
    await refused(['/articles?sort=title,internalNote', 'sort', 'internalNote', 'internalNote'])
    await refused(['/articles?sort[0]=author.salary:asc', 'sort', 'salary', 'author.salary'])
    await refused(['/articles?sort[author][salary]=desc', 'sort', 'salary', 'author.salary'])
    await refused(['/articles?sort[0][author][pin]=desc', 'sort', 'pin', 'author.pin'])
    await refused(['/articles?sort=secretCode:desc', 'sort', 'secretCode', 'secretCode'])
    await refused(['/articles?sort=createdBy', 'sort', 'createdBy', 'createdBy'])
    await refused(['/articles?sort=createdBy.password', 'sort', 'password', 'createdBy.password'])
    await refused(['/articles?sort=note.text', 'sort', 'note', 'note'])
    await refused(['/articles?populate[author][sort]=salary', 'populate', 'salary', 'salary'])
  })

  test('S008 nothing unreadable can be selected', async () => {
    await refused(['/articles?fields[0]=internalNote', 'fields', 'internalNote', 'internalNote'])
    await refused(['/articles?fields=title,secretCode', 'fields', 'secretCode', 'secretCode'])
    await refused(['/articles?fields[0]=*&fields[1]=secretCode', 'fields', 'secretCode', 'secretCode'])
    await refused(['/articles?populate[author][fields][0]=salary', 'populate', 'salary', 'salary'])
    await refused(['/articles?fields=createdBy', 'fields', 'createdBy', 'createdBy'])
  })

  test('S016 names of tables and aliases lead nowhere', async () => {
    const flat = ['t0.internalNote', 'articles.internalNote', 't0`.`internalNote', 't0"."internalNote', 't0.internal_note', 'main.articles']
    for (const name of flat) await refused([`/articles?filters[${encoded(name)}]=a`, 'filters', name, null])
    for (const name of flat) await refused([`/articles?sort[${encoded(name)}]=asc`, 'sort', name, null])
    for (const name of flat) await refused([`/articles?fields[0]=${encoded(name)}`, 'fields', name, null])
    await refused(['/articles?filters[updatedBy][t1.password][$startsWith]=$', 'filters', 't1.password', 'updatedBy'])
    await refused(['/articles?filters[updatedBy][password][$startsWith]=$', 'filters', 'password', 'updatedBy.password'])
    await refused(['/articles?filters[author][t1.salary]=1', 'filters', 't1.salary', 'author'])
  })

  test('S017 column names and spellings that look like the attribute lead nowhere', async () => {
    const spellings = [
      'internal_note',
      'secret_code',
      'InternalNote',
      'INTERNALNOTE',
      'internalNote ',
      'internalNote\0',
      'ｉｎｔｅｒｎａｌＮｏｔｅ',
      'internalNot\u00e9',
    ]
    for (const name of spellings) await refused([`/articles?filters[${encoded(name)}][$null]=true`, 'filters', name, null])
    for (const name of ['internal_note', 'ｉｎｔｅｒｎａｌＮｏｔｅ', 'internalNote\0']) {
      await refused([`/articles?sort=${encoded(name)}`, 'sort', name, null])
      await refused([`/articles?fields[0]=${encoded(name)}`, 'fields', name, null])
    }
    for (const name of ['internalNote ', ' internalNote', '\tinternalNote']) {
      await refused([`/articles?sort=${encoded(name)}`, 'sort', 'internalNote', 'internalNote'])
      await refused([`/articles?fields=${encoded(name)}`, 'fields', 'internalNote', 'internalNote'])
    }
  })

  test('S025 zones and morph relations cannot be compared, media only where the contract says so', async () => {
    await refused(['/articles?filters[blocks][title]=x', 'filters', 'blocks', 'blocks'])
    await refused(['/comments?filters[subjects][title]=x', 'filters', 'subjects', 'subjects'])
    await refused(['/comments?filters[subject][id]=1', 'filters', 'subject', 'subject'])
    if (contract === 'specification') await refused(['/articles?filters[cover][name]=x', 'filters', 'cover', 'cover'])
    else {
      await refused(['/articles?filters[cover][folderPath][$contains]=/', 'filters', 'folderPath', 'cover.folderPath'])
      await refused(['/articles?filters[cover][related][id]=1', 'filters', 'related', 'cover.related'])
      expect((await sendRequest('/articles?filters[cover][name]=no such file')).body.meta.pagination.total).toBe(0)
    }
    await refused(['/articles?sort=cover.folderPath', 'sort', 'folderPath', 'cover.folderPath'])
    expect((await sendRequest('/articles?filters[comments][body]=no such comment')).body.meta.pagination.total).toBe(0)
  })

  test('S026 other locales of a document do not expose private values', async () => {
    await refused(['/articles?filters[localizations][internalNote]=x', 'filters', 'internalNote', 'localizations.internalNote'])
    await refused(['/articles?sort=localizations.secretCode', 'sort', 'secretCode', 'localizations.secretCode'])
    await refused(['/articles?populate[localizations][fields][0]=internalNote', 'populate', 'internalNote', 'internalNote'])
    await refused(['/articles?populate[localizations][filters][internalNote]=x', 'populate', 'internalNote', 'internalNote'])
  })
})
