// Attributes that link to documents, by a path such as `writer`, `seo.image` or `sections[block.text].source`.
import { forbidden, validationError } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import type { Attribute, ContentType, Schema } from '../../model/schema/types.js'
import type { ContentAccess } from './content-access.js'

const step = /^([\w-]+)(?:\[([\w.-]+)\])?$/

/** The names of a path; in brackets the component of a dynamic zone. */
const stepsOf = (path: string): readonly string[] => path.match(/[^.[\]]+(?:\[[^\]]*\])?/g) ?? []

/**
 * Finds the relation at a path, as far as the administrator may see it.
 * @throws ApiError 400 where there is none, 403 where its documents may not be read
 */
export function linkAt({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>, type: ContentType, path: string) {
  const { model } = documents.context
  const wrong = () => validationError(`The path ${path} is that of no relation`, { path })
  let shape: Schema | undefined = type
  let granted: AttributeGrants = grants.content?.readable.get(type.uid) ?? noAttributes
  const steps = stepsOf(path)
  for (const [index, text] of steps.entries()) {
    const [, name = '', component] = step.exec(text) ?? []
    const attribute: Attribute | undefined = shape?.attributes.get(name)
    if (attribute === undefined || !isGranted(granted, name)) throw wrong()
    granted = grantedBelow(granted, name)
    if (index === steps.length - 1) {
      if ((attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') || component !== undefined) throw wrong()
      const target = model.types.get(attribute.target)
      if (target === undefined || !target.exposed) throw wrong()
      if (!grants.may(`${target.uid}.find`)) throw forbidden(`${target.uid}.find`)
      return { attribute, target, isOwn: steps.length === 1 }
    }
    if (attribute.kind === 'component') shape = model.components.get(attribute.component)
    else if (attribute.kind === 'dynamiczone' && component !== undefined && attribute.components.includes(component))
      shape = model.components.get(component)
    else throw wrong()
  }
  throw wrong()
}
