// Whether list and edit settings fit the model. Pure.
import type { Model, Schema } from '../../model/schema/types.js'
import { isEdited, isListed, type Layout, rowColumns, shownAttributes, widthOf } from './layout-defaults.js'

/** What is wrong, and where. */
export interface LayoutProblem {
  readonly path: readonly string[]
  readonly message: string
}

/** Problems that are reported at most. */
const mostProblems = 100

/** What is wrong with settings that have the right form. */
export function checkLayout(model: Model, schema: Schema, { settings, metadatas, layouts }: Layout): readonly LayoutProblem[] {
  const attributes = shownAttributes(schema)
  const problems: LayoutProblem[] = []
  const report = (path: readonly string[], message: string) => {
    if (problems.length < mostProblems) problems.push({ path, message })
  }
  const listed = (name: unknown): boolean => isListed(String(name), attributes.get(String(name)))
  for (const key of ['mainField', 'defaultSortBy'] as const)
    if (!listed(settings[key])) report(['settings', key], `${schema.uid} has no attribute ${settings[key]} that lists show`)
  for (const [name, { edit }] of Object.entries(metadatas)) {
    const attribute = attributes.get(name)
    if (attribute === undefined && name !== 'id' && name !== 'documentId') {
      report(['metadatas', name], `${schema.uid} has no attribute ${name}`)
      continue
    }
    if (attribute === undefined && Object.keys(edit).length > 0) report(['metadatas', name, 'edit'], `${name} is not edited`)
    if (edit.mainField === undefined) continue
    const target = model.types.get(String(attribute?.target))
    const isThere =
      target === undefined
        ? attribute?.type === 'relation'
        : isListed(String(edit.mainField), shownAttributes(target).get(String(edit.mainField)))
    if (!isThere)
      report(['metadatas', name, 'edit', 'mainField'], `The target of ${name} has no attribute ${edit.mainField} that lists show`)
  }
  const inList = new Set<string>()
  for (const [index, name] of layouts.list.entries()) {
    if (!listed(name)) report(['layouts', 'list', String(index)], `${schema.uid} has no attribute ${name} that lists show`)
    if (inList.has(name)) report(['layouts', 'list', String(index)], `${name} is in the list twice`)
    inList.add(name)
  }
  const inEdit = new Set<string>()
  for (const [index, row] of layouts.edit.entries()) {
    if (widthOf(row) > rowColumns) report(['layouts', 'edit', String(index)], `A row has ${rowColumns} columns`)
    for (const [place, { name }] of row.entries()) {
      const path = ['layouts', 'edit', String(index), String(place)]
      if (!attributes.has(name) || !isEdited(name)) report(path, `${schema.uid} has no attribute ${name} to edit`)
      if (inEdit.has(name)) report(path, `${name} is in the view twice`)
      inEdit.add(name)
    }
  }
  return problems
}
