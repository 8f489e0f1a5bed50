// What there still is and should become less: shrinking.json says how much of it may be where. What grows fails, and so does a list that
// says more than there is; OCTAVO_ACCEPT=1 writes the lists anew, unless something has grown.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const here = dirname(fileURLToPath(import.meta.url))
const source = join(here, '..', 'src')
const listFile = join(here, 'shrinking.json')

/** How much there is of something, by its name. */
type Amounts = Record<string, number>

interface Parsed {
  readonly name: string
  readonly tree: ts.SourceFile
}

const parsed: readonly Parsed[] = (readdirSync(source, { recursive: true }) as string[])
  .filter((file) => file.endsWith('.ts'))
  .sort()
  .map((file) => ({
    name: file.replaceAll('\\', '/'),
    tree: ts.createSourceFile(file, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.Latest, true),
  }))

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  node.forEachChild((child) => walk(child, visit))
}

/** What SQLite alone says, or says in its own way, as words of SQL. */
const sqliteWords = [
  ...['on conflict', 'insert or ', 'default values', 'returning', 'limit -1'],
  ...['json_each', 'json_valid', 'group_concat', 'ifnull', 'cross join', 'likelihood', 'rowid', 'sqlite_', 'pragma'],
]

const looksLikeSql = /\b(?:select|insert into|update|delete from)\b/i

/** The words of one dialect in the texts of a file, comments aside: `||` and the comparison `is ?` of SQL templates too. */
function dialectWords({ tree }: Parsed): Amounts {
  const found: Amounts = {}
  const note = (word: string, times: number) => {
    if (times > 0) found[word] = (found[word] ?? 0) + times
  }
  walk(tree, (node) => {
    if (!(ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))) return
    const text = node.text.toLowerCase()
    for (const word of sqliteWords) note(word, text.split(word).length - 1)
    const isTagged = ts.isTaggedTemplateExpression(templateOf(node).parent)
    if (isTagged || looksLikeSql.test(text)) note('||', text.split('||').length - 1)
    if (isTagged && !ts.isTemplateTail(node) && / is (?:not )?$/.test(text)) note('is ?', 1)
  })
  return found
}

/** The whole template of one of its pieces. */
function templateOf(node: ts.Node): ts.Node {
  if (ts.isTemplateHead(node)) return node.parent
  return ts.isTemplateMiddleOrTemplateTail(node) ? node.parent.parent : node
}

function exportedTypes({ tree }: Parsed): readonly string[] {
  return tree.statements
    .filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
    .filter((one) => one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .map((one) => one.name.text)
}

const longest = 60

/** The functions that no screen holds, with their lines, rounded up to tens: one line more or less is no change. */
function longFunctions({ name, tree }: Parsed): Amounts {
  const found: Amounts = {}
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  walk(tree, (node) => {
    if (!ts.isFunctionLike(node)) return
    const lines = lineAt(node.end) - lineAt(node.getStart(tree)) + 1
    const called = node.name ?? (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : null)
    if (lines > longest) found[`${name} ${called?.getText(tree) ?? 'without a name'}`] = 10 * Math.ceil(lines / 10)
  })
  return found
}

function countedTypes(): Amounts {
  const counts: Amounts = {}
  for (const name of parsed.flatMap(exportedTypes)) counts[name] = (counts[name] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 1))
}

const found: Readonly<Record<string, Amounts>> = {
  'words of one SQL dialect outside of src/database': Object.fromEntries(
    parsed
      .filter(({ name }) => !name.startsWith('database/'))
      .flatMap((file) => Object.entries(dialectWords(file)).map(([word, times]) => [`${file.name} ${word.trim()}`, times])),
  ),
  'exported types of one name': countedTypes(),
  [`functions of more than ${longest} lines`]: Object.assign({}, ...parsed.map(longFunctions)),
}

const listed = JSON.parse(readFileSync(listFile, 'utf8')) as Record<string, Amounts>
const total = (amounts: Amounts = {}) => Object.values(amounts).reduce((sum, one) => sum + one, 0)

/** Files that move take what they have with them. */
const mayAccept = process.env.OCTAVO_ACCEPT === '1' && Object.keys(found).every((what) => total(found[what]) <= total(listed[what]))
if (mayAccept) {
  const sorted = Object.entries(found).map(([what, amounts]) => [what, Object.fromEntries(Object.entries(amounts).sort())])
  writeFileSync(listFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

describe.skipIf(mayAccept).each(Object.keys(found))('%s', (what) => {
  const [are, may] = [found[what]!, listed[what] ?? {}]
  const more = (left: Amounts, right: Amounts) => Object.entries(left).filter(([key, amount]) => amount > (right[key] ?? 0))

  test('become no more', () => {
    expect(more(are, may).map(([key, amount]) => `${key}: ${amount}, not ${may[key] ?? 0}`)).toEqual([])
  })

  test('are as many as listed', () => {
    expect(more(may, are).map(([key, amount]) => `${key}: ${are[key] ?? 0}, no longer ${amount}; OCTAVO_ACCEPT=1 writes the list`)).toEqual(
      [],
    )
  })
})
