// The custom fields that a project's code registers: `strapi.customFields.register({ name, plugin, type })` in src/index and src/plugins.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutMark } from '../../src/foundation/runtime/file-operations.js'
import { findCodeFiles } from './code-files.js'
import { evaluate, findProperty, type Location, resolve, unknown } from './constants.js'
import { calleeName, createModuleReader, type Module } from './modules.js'
import { getName, type SyntaxNode, walk } from './syntax.js'

/** The types of the fields that the code of a project registers, by uid. */
export function registeredFields(folder: string): ReadonlyMap<string, string> {
  const modules = createModuleReader(folder)
  const found = new Map<string, string>()
  for (const { path, kind } of findCodeFiles(folder)) {
    const module = kind === 'start' || kind === 'plugin' || kind === 'extension' ? modules.read(path) : null
    if (module === null) continue
    const plugin = kind === 'plugin' ? getPluginName(folder, path) : null
    for (const { uid, type } of findRegistrations(module, { scope: module.scope, module, findModule: modules.find, depth: 0 }, plugin))
      found.set(uid, type)
  }
  return found
}

/** The name of the plugin that a file belongs to: that of its package for Strapi, else that of its folder. */
function getPluginName(folder: string, path: string): string {
  const [name = ''] = path.slice('src/plugins/'.length).split('/')
  try {
    const file = join(folder, 'src', 'plugins', name, 'package.json')
    const { strapi } = JSON.parse(existsSync(file) ? withoutMark(readFileSync(file, 'utf8')) : '{}') as {
      strapi?: { name?: unknown }
    }
    return typeof strapi?.name === 'string' ? strapi.name : name
  } catch {
    return name
  }
}

interface RegisteredField {
  readonly uid: string
  readonly type: string
}

function findRegistrations({ program }: Module, location: Location, plugin: string | null): readonly RegisteredField[] {
  const found: RegisteredField[] = []
  walk(program as unknown as SyntaxNode, (node) => {
    if (node.type !== 'CallExpression' || !isRegister(node.callee as SyntaxNode)) return
    const [given] = node.arguments
    const whole = given === undefined || given.type === 'SpreadElement' ? null : resolve(given as SyntaxNode, location)
    if (whole === null) return
    const { node: fields, ...place } = whole
    const each = fields.type === 'ArrayExpression' ? (fields.elements as readonly SyntaxNode[]) : [fields]
    for (const field of each) found.push(...readField(field, place, plugin))
  })
  return found
}

/** `strapi.customFields.register` and `strapi.get('custom-fields').add`, by the last two names. */
function isRegister(callee: SyntaxNode): boolean {
  if (callee.type !== 'MemberExpression' || getName(callee.property) !== 'register') return false
  return calleeName(callee.object as SyntaxNode) === 'customFields'
}

/** A field whose name or plugin is computed, as from its package.json, has the plugin's name. */
function readField(given: SyntaxNode, location: Location, plugin: string | null): readonly RegisteredField[] {
  const field = resolve(given, location)
  if (field?.node.type !== 'ObjectExpression') return []
  const { node, ...place } = field
  const valueAt = (key: string): unknown => {
    const value = findProperty(node, key)
    return value === null ? undefined : evaluate(value, place)
  }
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : value === unknown ? plugin : null)
  const [name, owner, type] = [textOf(valueAt('name')), textOf(valueAt('plugin')), valueAt('type')]
  if (name === null || typeof type !== 'string') return []
  return [{ uid: owner === null ? `global::${name}` : `plugin::${owner}.${name}`, type }]
}
