// The file that `octavo types` writes: interfaces of all content-types and components of a project, registered in ContentTypes.
import type { View } from '../view.js'
import { reachableFrom } from '../view.js'
import { literal, printInterface } from './print.js'
import { printShape, type TypeDefaults } from './shapes.js'

/** The first line of the file. */
export const fileHeader = '// Written by `octavo types` from the schemas of the project. Changes are lost when it runs again.'

/** A file with all declarations does not register its types. */
const standaloneNotice =
  '// This file does not type clients by itself: pass its types, createClient<Types>({ … }). Without them, any name compiles.\n'

/** Packages that contain the client and its types. */
export const clientPackages = ['octavo/client', 'octavo-client'] as const
export type ClientPackage = (typeof clientPackages)[number]

/** Content of the file in addition to the model. */
export interface FileOptions {
  /** Default query of reads, by uid. */
  readonly defaults: Readonly<Record<string, TypeDefaults>>
  /** The package that the declarations are imported from, or their text. */
  readonly declarations: { readonly package: ClientPackage } | { readonly text: string }
}

/** Content-types of plugins that have endpoints of their own. */
const withEndpoints = ['plugin::upload.file', 'plugin::users-permissions.user', 'plugin::users-permissions.role']

/** Prints the types of a project. The same model gives the same text. */
export function printFile(view: View, { defaults, declarations }: FileOptions): string {
  const roots = [...view.model.types.values()].filter(({ uid, exposed }) => exposed || withEndpoints.includes(uid))
  const shapes = reachableFrom(view, roots)
  const types = shapes.filter(({ kind }) => kind === 'contentType')
  const index = printInterface(
    'Types',
    types.map(({ uid }) => ({ name: uid, type: `${view.names.get(uid)!}Type` })),
  )
  return [
    `${fileHeader}\n${'text' in declarations ? standaloneNotice : ''}/* eslint-disable */\n`,
    'text' in declarations ? `${declarations.text}\n` : `import type * as Octavo from '${declarations.package}'\n`,
    ...shapes.map((shape) => printShape(view, shape, defaults[shape.uid] ?? {})),
    `/** The content-types of the project by uid. */\n${index}`,
    ...('text' in declarations
      ? []
      : [`declare module ${literal(declarations.package)} {\n  interface ContentTypes extends Types {}\n}\n`]),
  ].join('\n')
}
