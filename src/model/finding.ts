// What a check of a schema finds, and how serious it is.

/**
 * A finding at one path of a schema. `wrong` ends the start. `careless` ends it as well, unless Strapi serves the project too: Strapi
 * starts with such a mistake. `unlikely` is a warning.
 */
export interface Finding {
  /** The path in the file: `attributes.slug.targetField`. */
  readonly path: string
  readonly message: string
  readonly kind: 'wrong' | 'careless' | 'unlikely'
}

const finding =
  (kind: Finding['kind']) =>
  (path: string, message: string): Finding => ({ path, message, kind })

/** Create findings by their kind. */
export const wrong: ReturnType<typeof finding> = finding('wrong')
export const careless: ReturnType<typeof finding> = finding('careless')
export const unlikely: ReturnType<typeof finding> = finding('unlikely')
