// Writes SQL that the rest of the service says in words of every database in those of MySQL and MariaDB, under the modes that every
// connection has (connection.ts): names in double quotes, `||` for texts.
import type {
  ColumnNode,
  IdentifierNode,
  OperationNode,
  RawNode,
  ReferenceNode,
  SchemableIdentifierNode,
  TableNode,
  ValueNode,
} from 'kysely'
import { quoted } from '../../../model/tables/table.js'
import type { Expression } from '../../dialect.js'
import { type PortablePhrase, phraseOf } from '../../portable-sql.js'
import { literal } from './statements.js'

/** The phrases of portable-sql.ts as these servers write them; `$0`, `$1`, … are their parts. */
const phrases: Readonly<Record<PortablePhrase, string>> = {
  same: '($0 <=> $1)',
  differs: '(not ($0 <=> $1))',
  joined: "group_concat(cast($0 as char) order by $1 separator ',')",
  // A list would be cut off where it is longer than a packet.
  contentOf: "concat(count(*), ' ', bit_xor(cast(conv(left(md5($0), 16), 16, 10) as unsigned)))",
  insertDefaults: 'insert into $0 () values ()',
  updateFrom: 'update $0 as $1 join $3 set $2 where $4',
  insertMissing: 'insert into $0 ($1) $2 on duplicate key update $0.$1[0] = $0.$1[0]',
  upsert: 'insert into $0 ($1) values ($2) on duplicate key update $4',
}

/** Type names in `cast`. */
const types: readonly (readonly [RegExp, string])[] = [
  [/\bas text\)/g, 'as char)'],
  [/\bas (?:integer|bigint)\)/g, 'as signed)'],
  [/\bas double precision\)/g, 'as double)'],
]

const worded = (text: string): string => types.reduce((written, [form, word]) => written.replace(form, word), text)

/** A statement that is being written. */
interface Written {
  text: string
  readonly values: unknown[]
}

/** The first of several nodes that a fragment joins. */
const firstOf = (node: OperationNode): OperationNode => {
  const { parameters = [] } = node as Partial<RawNode>
  return node.kind === 'RawNode' && parameters.length > 0 ? firstOf(parameters[0]!) : node
}

function writeRaw(written: Written, { sqlFragments, parameters }: RawNode): void {
  const phrase = phraseOf(sqlFragments)
  if (phrase !== undefined) {
    writePhrase(written, phrases[phrase], parameters)
    return
  }
  sqlFragments.forEach((text, index) => {
    written.text += worded(text)
    if (index < parameters.length) write(written, parameters[index]!)
  })
}

function writePhrase(written: Written, phrase: string, parts: readonly OperationNode[]): void {
  for (const piece of phrase.split(/(\$\d(?:\[0\])?)/)) {
    const [, number, first] = /^\$(\d)(\[0\])?$/.exec(piece) ?? []
    const part = parts[Number(number)]
    if (part === undefined) written.text += piece
    else write(written, first === undefined ? part : firstOf(part))
  }
}

/** Writes names and values; no other Kysely nodes occur. */
function write(written: Written, node: OperationNode): void {
  switch (node.kind) {
    case 'RawNode':
      writeRaw(written, node as RawNode)
      break
    case 'ValueNode': {
      const { value, immediate } = node as ValueNode
      if (immediate !== true) written.values.push(value)
      written.text += immediate === true ? literal(value, 'plain') : '?'
      break
    }
    case 'IdentifierNode':
      written.text += quoted((node as IdentifierNode).name)
      break
    case 'ColumnNode':
      write(written, (node as ColumnNode).column)
      break
    case 'TableNode':
      write(written, (node as TableNode).table)
      break
    case 'SchemableIdentifierNode':
      writeNames(written, [(node as SchemableIdentifierNode).schema, (node as SchemableIdentifierNode).identifier])
      break
    case 'ReferenceNode':
      writeNames(written, [(node as ReferenceNode).table, (node as ReferenceNode).column])
      break
    default:
      throw new Error(`A ${node.kind} has no form in SQL`)
  }
}

function writeNames(written: Written, names: readonly (OperationNode | undefined)[]): void {
  names
    .filter((name) => name !== undefined)
    .forEach((name, index) => {
      if (index > 0) written.text += '.'
      write(written, name)
    })
}

/** The text of a query, with `?` for each of its values, and these. */
export function writeMysqlSql(query: Expression): { readonly text: string; readonly values: readonly unknown[] } {
  const written: Written = { text: '', values: [] }
  write(written, query.toOperationNode())
  return written
}
