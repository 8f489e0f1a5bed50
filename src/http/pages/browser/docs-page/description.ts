// The OpenAPI document that the page shows, and its operations as a list.

export type SchemaObject = { readonly [key: string]: unknown }

export interface ShownParameter extends SchemaObject {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: SchemaObject
}

export interface ShownOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** True: the path does not begin with the prefix of the API. */
  readonly isAtRoot: boolean
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly ShownParameter[]
  /** The media types of the body with their schemas. */
  readonly body: Readonly<Record<string, SchemaObject>>
  readonly responses: readonly { readonly status: string; readonly description: string; readonly schema: SchemaObject | null }[]
  /** True if it needs no token. */
  readonly isOpen: boolean
}

interface OperationGroup {
  readonly tag: string
  readonly title: string
  readonly operations: readonly ShownOperation[]
}

export interface ApiDescription {
  readonly groups: readonly OperationGroup[]
  readonly version: string
  readonly about: string
  /** Follows references until there is none. */
  resolve(schema: SchemaObject): SchemaObject
}

type Raw = { readonly [key: string]: never }

export function readDescription(document: SchemaObject): ApiDescription {
  const resolve = (schema: SchemaObject): SchemaObject => {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    const found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((value, key) => (value as Raw | undefined)?.[key], document)
    return found === undefined ? {} : resolve(found as SchemaObject)
  }
  const operations = Object.entries(document.paths as SchemaObject).flatMap(([path, methods]) =>
    Object.entries(methods as SchemaObject).flatMap(([method, raw]) =>
      method === 'servers'
        ? []
        : [readOperation({ path, method, isAtRoot: 'servers' in (methods as object) }, raw as SchemaObject, resolve)],
    ),
  )
  const info = document.info as { readonly version: string; readonly description?: string }
  const groups = (document.tags as readonly { readonly name: string; readonly description: string }[]).map(({ name, description }) => ({
    tag: name,
    title: description,
    operations: operations.filter(({ tags }) => tags.includes(name)),
  }))
  return { groups, version: info.version, about: info.description ?? '', resolve }
}

function readOperation(
  position: Pick<ShownOperation, 'path' | 'method' | 'isAtRoot'>,
  raw: SchemaObject,
  resolve: ApiDescription['resolve'],
): ShownOperation {
  const getContent = (value: SchemaObject): Readonly<Record<string, SchemaObject>> =>
    Object.fromEntries(
      Object.entries((value.content ?? {}) as Record<string, { schema: SchemaObject }>).map(([type, { schema }]) => [type, schema]),
    )
  const responses = Object.entries(raw.responses as Record<string, SchemaObject>).map(([status, given]) => {
    const response = resolve(given)
    return { status, description: String(response.description), schema: Object.values(getContent(response))[0] ?? null }
  })
  return {
    id: String(raw.operationId),
    ...position,
    method: position.method.toUpperCase(),
    tags: raw.tags as readonly string[],
    summary: String(raw.summary),
    description: String(raw.description ?? ''),
    parameters: ((raw.parameters ?? []) as readonly SchemaObject[]).map((parameter) => resolve(parameter) as ShownParameter),
    body: raw.requestBody === undefined ? {} : getContent(raw.requestBody as SchemaObject),
    responses,
    isOpen: ((raw.security ?? []) as readonly object[]).some((one) => Object.keys(one).length === 0),
  }
}
