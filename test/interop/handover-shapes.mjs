// The golden content model as its schema files say it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {Record<string, any> & { type: string }} Attribute
 * @typedef {object} Shape
 * @property {string} uid
 * @property {string} path path below /api/
 * @property {boolean} single
 * @property {boolean} drafts
 * @property {boolean} localized
 * @property {Record<string, Attribute>} attributes
 * @typedef {{ types: readonly Shape[], components: ReadonlyMap<string, Record<string, Attribute>> }} Shapes
 */

/**
 * @param {string} project
 * @param {() => void} prepare makes the project's folder
 * @returns {Shapes}
 */
export function loadShapes(project, prepare) {
  prepare()
  const read = (/** @type {string[]} */ ...path) => JSON.parse(readFileSync(join(project, 'src', ...path), 'utf8'))
  const types = readdirSync(join(project, 'src', 'api')).map((name) => {
    const schema = read('api', name, 'content-types', name, 'schema.json')
    const single = schema.kind === 'singleType'
    return {
      uid: `api::${name}.${name}`,
      path: single ? schema.info.singularName : schema.info.pluralName,
      single,
      drafts: schema.options?.draftAndPublish === true,
      localized: schema.pluginOptions?.i18n?.localized === true,
      attributes: schema.attributes,
    }
  })
  const components = readdirSync(join(project, 'src', 'components')).flatMap((category) =>
    readdirSync(join(project, 'src', 'components', category)).map(
      (file) => /** @type {const} */ ([`${category}.${file.replace('.json', '')}`, read('components', category, file).attributes]),
    ),
  )
  return { types, components: new Map(components) }
}
