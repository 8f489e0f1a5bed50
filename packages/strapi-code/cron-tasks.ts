// The cron tasks that a Strapi project has inside of config/server; a file of their own is listed as it is.
import { type SyntaxNode, walk } from './parse.js'
import { nameOf } from './scope.js'

/** True for the file of settings that may have tasks inside. */
export const isServerConfig = (path: string): boolean => /^config\/server\.\w+$/.test(path)

/** The names of the tasks that are written in the settings: `cron: { tasks: { name: … } }`. */
export function inlineTasksOf(program: SyntaxNode): readonly string[] {
  const found: string[] = []
  walk(program, (node) => {
    if (node.type !== 'Property' || nameOf(node.key as SyntaxNode) !== 'cron') return
    for (const [name, value] of membersOf(node.value as SyntaxNode))
      if (name === 'tasks') found.push(...membersOf(value).map(([task]) => task))
  })
  return found
}

const membersOf = (node: SyntaxNode): readonly (readonly [string, SyntaxNode])[] =>
  node.type !== 'ObjectExpression'
    ? []
    : node.properties.flatMap((member) =>
        member.type === 'Property' ? [[nameOf(member.key as SyntaxNode), member.value as SyntaxNode] as const] : [],
      )
