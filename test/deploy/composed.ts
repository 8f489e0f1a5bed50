// The unchanged deploy/compose.yaml with the values of deploy/compose.env.example, except its published secrets.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const root = join(import.meta.dirname, '..', '..')

/** The path of a file of deploy/. */
export const deployed = (...path: readonly string[]): string => join(root, 'deploy', ...path)

export const textOf = (...path: readonly string[]): string => readFileSync(deployed(...path), 'utf8')

/** A service of the compose file, reduced to the tested members. */
export interface ComposeService {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } }
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
}

export interface Composition {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
}

/** The lines `NAME=value` of a file of variables. */
export const variablesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(/^([A-Z_0-9]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))

/** The compose file with variables in place of `${NAME:?}`. @throws Error for one that has no value */
export function composition(): Composition {
  const values = variablesIn(textOf('compose.env.example'))
  const filled = (_: string, name: string): string => {
    const value = values[name]
    if (value === undefined) throw new Error(`deploy/compose.env.example has no ${name}`)
    return value.replace(/^replace-this-/, 'replaced-by-')
  }
  // As Compose does, after the file was parsed: a value of digits stays a text.
  const fill = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.replaceAll(/\$\{(\w+):\?\}/g, filled) : value)
  return JSON.parse(JSON.stringify(parse(textOf('compose.yaml'), { merge: true })), fill) as Composition
}
