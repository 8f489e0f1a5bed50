// Which expressions are a request, its query, or a parameter of it: however the code has named or taken them apart.
import { calleeName } from './modules.js'
import type { SyntaxNode } from './parse.js'
import { type Binding, nameOf, type Scope } from './scope.js'

/** The keys of a place in the query of a request: `ctx.query.populate` is ['populate']; null for anything else. */
export function queryPath(node: SyntaxNode, scope: Scope): readonly string[] | null {
  const path = requestPath(node, scope)
  if (path === null) return null
  const [first, second] = path
  // Middlewares of documents have the parameters of a call in `params`.
  if (first === 'query' || first === 'params') return path.slice(1)
  return first === 'request' && second === 'query' ? path.slice(2) : null
}

/** The keys from the first parameter of a function to a value; null for what does not come from there. */
export function requestPath(node: SyntaxNode, scope: Scope): readonly string[] | null {
  if (node.type === 'Identifier') {
    const binding = scope.find(node.name)
    return binding === null ? null : pathOfBinding(binding)
  }
  if (node.type === 'LogicalExpression' && node.operator !== '&&') return requestPath(node.left, scope)
  if (node.type === 'AwaitExpression') return requestPath(node.argument, scope)
  // Strapi's own methods that give the query back without what is not allowed.
  if (node.type === 'CallExpression' && /^(?:sanitize|validate)Query$/.test(calleeName(node.callee as SyntaxNode))) {
    const [request] = node.arguments
    return request !== undefined && requestPath(request as SyntaxNode, scope)?.length === 0 ? ['query'] : null
  }
  if (node.type !== 'MemberExpression') return null
  const literal = node.property.type === 'Literal' ? String(node.property.value) : null
  const key = node.computed ? literal : nameOf(node.property)
  const object = requestPath(node.object as SyntaxNode, scope)
  return object === null || key === null ? null : [...object, key]
}

function pathOfBinding(binding: Binding): readonly string[] | null {
  switch (binding.kind) {
    case 'parameter':
      return binding.index === 0 ? [] : null
    case 'value':
      return requestPath(binding.node, binding.scope)
    case 'member': {
      const whole = pathOfBinding(binding.of)
      return whole === null || binding.key === null ? null : [...whole, binding.key]
    }
    case 'import':
    case 'function':
      return null
  }
}
