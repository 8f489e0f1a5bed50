// The syntax trees of src/ and packages/, and the searches of test/tidy.test.ts in them: words of one SQL dialect, types of one name, long functions.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..', '..')

interface Parsed {
  readonly name: string
  readonly tree: ts.SourceFile
}

/** All files of src/ and packages/, parsed once; the names of those of src/ are paths below it. */
export const parsedSources: readonly Parsed[] = ['src', 'packages']
  .flatMap((folder) => (readdirSync(join(root, folder), { recursive: true }) as string[]).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.ts') && !/node_modules|[\\/]dist[\\/]/.test(file))
  .sort()
  .map((file) => ({
    name: file.replaceAll('\\', '/').replace(/^src\//, ''),
    tree: ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true),
  }))

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  node.forEachChild((child) => walk(child, visit))
}

/** SQL words that only SQLite has, or that it interprets differently. */
const sqliteWords = [
  ...['on conflict', 'insert or ', 'default values', 'returning', 'limit -1'],
  ...['json_each', 'json_valid', 'group_concat', 'ifnull', 'cross join', 'likelihood', 'rowid', 'sqlite_', 'pragma'],
]

const looksLikeSql = /\b(?:select|insert into|update|delete from)\b/i

/** Dialect-specific words in the strings of a file (not its comments), including `||` and the comparison `is ?` of SQL templates. */
export function dialectWords({ tree }: Parsed): readonly string[] {
  const found = new Set<string>()
  const note = (word: string, isThere: boolean) => void (isThere && found.add(word))
  walk(tree, (node) => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    if (!isText && !ts.isRegularExpressionLiteral(node)) return
    // A metric's name is not a word of a dialect.
    const text = node.text.toLowerCase().replaceAll('octavo_sqlite_', '')
    for (const word of sqliteWords) note(word, text.includes(word))
    const isTagged = isText && ts.isTaggedTemplateExpression(templateOf(node).parent)
    note('||', isText && (isTagged || looksLikeSql.test(text)) && text.includes('||'))
    note('is ?', isTagged && !ts.isTemplateTail(node) && / is (?:not )?$/.test(text))
  })
  return [...found]
}

/** The whole template of one of its pieces. */
function templateOf(node: ts.Node): ts.Node {
  if (ts.isTemplateHead(node)) return node.parent
  return ts.isTemplateMiddleOrTemplateTail(node) ? node.parent.parent : node
}

interface DeclaredType {
  readonly file: string
  readonly name: string
  readonly isExported: boolean
  /** Its declaration without comments and spaces. */
  readonly text: string
}

/** The types that a file declares, except inside of functions. */
export function declaredTypes({ name: file, tree }: Parsed): readonly DeclaredType[] {
  const printer = ts.createPrinter({ removeComments: true })
  return tree.statements
    .filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
    .map((one) => {
      const isExported = one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
      const text = printer.printNode(ts.EmitHint.Unspecified, one, tree).replace(/\s+/g, ' ').replace('export ', '')
      return { file, name: one.name.text, isExported, text }
    })
}

/** The functions of a file with more lines than `most`. */
export function longFunctions({ name, tree }: Parsed, most: number): readonly string[] {
  const found: string[] = []
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  walk(tree, (node) => {
    if (!ts.isFunctionLike(node)) return
    const lines = lineAt(node.end) - lineAt(node.getStart(tree)) + 1
    const called = node.name ?? (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : null)
    if (lines > most) found.push(`${name} ${called?.getText(tree) ?? 'without a name'}: ${lines} lines`)
  })
  return found
}
