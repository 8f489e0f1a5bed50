// The custom fields that a project's code registers: `strapi.customFields.register({ name, plugin, type })` in src/index and src/plugins.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutMark } from '../../src/foundation/runtime/file-operations.js'
import { findCodeFiles } from './code-files.js'
import { findCalls } from './effects.js'
import { createModuleReader } from './syntax.js'
import { isPlain } from './values.js'

/** The types of the fields that the code of a project registers, by uid. */
export function registeredFields(folder: string): ReadonlyMap<string, string> {
  const reader = createModuleReader(folder)
  const found = new Map<string, string>()
  for (const { path, kind } of findCodeFiles(folder)) {
    if (kind !== 'start' && kind !== 'plugin' && kind !== 'extension') continue
    const plugin = kind === 'plugin' ? getPluginName(folder, path) : null
    for (const [given] of findCalls(reader, path, ['customFields', 'register'])) {
      for (const field of Array.isArray(given) ? given : [given]) {
        if (!isPlain(field) || typeof field.type !== 'string') continue
        // A name or plugin that is computed, as from its package.json, is the plugin's name.
        const [name, owner] = [field.name, field.plugin].map((value) => (value === undefined || typeof value === 'string' ? value : plugin))
        if (name != null) found.set(owner == null ? `global::${name}` : `plugin::${owner}.${name}`, field.type)
      }
    }
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
