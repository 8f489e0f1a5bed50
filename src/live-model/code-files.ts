// The controller, router and service of a new content-type, as Strapi's content-type builder makes them. Octavo does not run them; without them
// a Strapi that serves the project has no routes for the type.

/** What the code of a project is written in: TypeScript where it has a tsconfig.json. */
export type ProjectLanguage = 'js' | 'ts'

const parts = [
  { folder: 'controllers', word: 'controller', factory: 'createCoreController' },
  { folder: 'routes', word: 'router', factory: 'createCoreRouter' },
  { folder: 'services', word: 'service', factory: 'createCoreService' },
] as const

/** The paths and texts of a type's code files; none for components and types of plugins. */
export function codeFilesOf(uid: string, language: ProjectLanguage): readonly (readonly [path: string, text: string])[] {
  const [, api, singular] = /^api::([^.]+)\.(.+)$/.exec(uid) ?? []
  if (api === undefined || singular === undefined) return []
  return parts.map(({ folder, word, factory }) => {
    const comment = `/**\n * ${singular} ${word}\n */\n`
    const text =
      language === 'ts'
        ? `${comment}\nimport { factories } from '@strapi/strapi';\n\nexport default factories.${factory}('${uid}');\n`
        : `'use strict';\n\n${comment}\nconst { ${factory} } = require('@strapi/strapi').factories;\n\nmodule.exports = ${factory}('${uid}');\n`
    return [`src/api/${api}/${folder}/${singular}.${language}`, text] as const
  })
}
