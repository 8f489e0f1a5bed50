// The paths of JSON that a run does not compare: `updatedAt` anywhere, `data.*.views`, `**.url`.
import { ConfigError } from '../../src/foundation/errors/errors.js'
import type { JsonPath } from './difference.js'

/** Reads patterns. A single name holds at any depth; `*` stands for one key or place, `**` for any number. @throws ConfigError */
export function ignoredPaths(patterns: readonly string[]): (path: JsonPath) => boolean {
  const names = new Set<string>()
  const forms: RegExp[] = []
  for (const pattern of patterns.flatMap((each) => each.split(','))) {
    const parts = pattern
      .trim()
      .replace(/\[(\*|\d+)\]/g, '.$1')
      .split('.')
    if (parts.some((part) => part === '')) throw new ConfigError(`--ignore "${pattern}" is not a path like data.*.updatedAt.`)
    if (parts.length === 1 && parts[0] !== '*' && parts[0] !== '**') names.add(parts[0]!)
    else forms.push(formOf(parts))
  }
  if (names.size === 0 && forms.length === 0) return () => false
  return (path) => {
    if (path.length === 0) return false
    if (names.has(String(path.at(-1)))) return true
    const whole = `${path.join('\0')}\0`
    return forms.some((form) => form.test(whole))
  }
}

function formOf(parts: readonly string[]): RegExp {
  const source = parts.map((part) =>
    part === '**' ? '(?:[^\\0]+\\0)*' : `${part === '*' ? '[^\\0]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\0`,
  )
  return new RegExp(`^${source.join('')}$`)
}
