// The file that `octavo types` writes: the interfaces of all content-types and components of a project, and their place in ContentTypes.
import type { View } from '../view.js'
import { reachableFrom } from '../view.js'
import { literal, printInterface } from './print.js'
import { printShape, type TypeDefaults } from './shapes.js'

/** The first line of the file. */
export const fileHeader = '// Written by `octavo types` from the schemas of the project. Changes are lost when it runs again.'

/** Below it in a file with all declarations, which registers no types by itself. */
const standaloneNotice =
  '// This file does not type clients by itself: pass its types, createClient<Types>({ … }). Without them, any name compiles.\n'

/** What goes into the file besides the model. */
export interface FileOptions {
  /** By uid, what the project takes for granted in reads. */
  readonly defaults: Readonly<Record<string, TypeDefaults>>
  /** The declarations that the interfaces refer to; null: they are imported from `octavo/client`. */
  readonly declarations: string | null
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
    `${fileHeader}\n${declarations === null ? '' : standaloneNotice}/* eslint-disable */\n`,
    declarations === null ? "import type * as Octavo from 'octavo/client'\n" : `${declarations}\n`,
    ...shapes.map((shape) => printShape(view, shape, defaults[shape.uid] ?? {})),
    `/** The content-types of the project by uid. */\n${index}`,
    ...(declarations === null ? [`declare module ${literal('octavo/client')} {\n  interface ContentTypes extends Types {}\n}\n`] : []),
  ].join('\n')
}
