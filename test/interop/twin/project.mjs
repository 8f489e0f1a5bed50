// Puts the project together: the schemas, the code in Strapi's form and in Octavo's, and what the benchmark's Strapi is installed with.

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strapiFolder } from '../../../bench/strapi.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..', '..')

const factories = { controllers: 'Controller', services: 'Service', routes: 'Router' }

/** A project that has schemas and no code. @param {string} folder */
export function writePlainProject(folder) {
  for (const part of ['config', 'public', 'database', 'package.json', '.env'])
    cpSync(join(strapiFolder, part), join(folder, part), { recursive: true })
  cpSync(join(here, 'schemas'), folder, { recursive: true })
  linkPackages(folder)
  writeCore(folder)
}

/** Adds the code in both forms. Each service runs its own form, as where Octavo serves next to Strapi. @param {string} folder */
export function addCode(folder) {
  for (const form of ['strapi', 'octavo']) cpSync(join(here, form), folder, { recursive: true })
  // Custom files may have other names than the generated ones, which Strapi needs nevertheless.
  writeCore(folder)
}

/** The core files that Strapi generates for a content-type, if they are missing. @param {string} folder */
function writeCore(folder) {
  for (const api of readdirSync(join(folder, 'src', 'api'))) {
    for (const [part, factory] of Object.entries(factories)) {
      const file = join(folder, 'src', 'api', api, part, `${api}.js`)
      if (existsSync(file)) continue
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `module.exports = require('@strapi/strapi').factories.createCore${factory}('api::${api}.${api}')\n`)
    }
  }
}

/** Strapi's packages, and Octavo with the library that its routes validate with. @param {string} folder */
function linkPackages(folder) {
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(strapiFolder, 'node_modules')))
    symlinkSync(join(strapiFolder, 'node_modules', name), join(packages, name))
  for (const [name, target] of Object.entries({ octavo: root, zod: join(root, 'node_modules', 'zod') })) {
    rmSync(join(packages, name), { force: true })
    symlinkSync(target, join(packages, name))
  }
}
