// The names of a file, a function or a block of code that is read, with their values.
import { define, isPlain } from './values.js'

/** The path of the file that a scope is in. */
export const file: unique symbol = Symbol('file')
/** The scope of the function or file that a scope is in: that of its `var`. */
export const whole: unique symbol = Symbol('whole')
/** The names of a block, function or file; those around it are in its prototypes. */
export type Scope = Record<PropertyKey, unknown> & { readonly [file]: string; readonly [whole]: Scope }

/** The scope of a function, or that of a file with these names. */
export function createScope(outer: Scope | null, names: object = {}): Scope {
  const scope = Object.assign(Object.create(outer), names) as Scope
  define(scope, whole, scope)
  return scope
}

export const createBlock = (outer: Scope): Scope => Object.create(outer) as Scope

/** Sets an existing name. */
export function assignName(scope: Scope, name: string, value: unknown): void {
  let holder: Scope | null = scope
  while (holder !== null && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder) as Scope | null
  if (holder !== null) define(holder, name, value)
}

export const defineVar = (scope: Scope, name: string, value: unknown): void => define(scope[whole], name, value)

export const addExport = (scope: Scope, name: string, value: unknown): void => {
  const { exports } = scope.module as { exports: unknown }
  if (isPlain(exports)) define(exports, name, value)
}
