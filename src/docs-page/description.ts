// The OpenAPI document that the page shows, and its operations as a list.

export type Schema = { readonly [key: string]: unknown }

export interface Parameter extends Schema {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** The media types of the body with their schemas. */
  readonly body: Readonly<Record<string, Schema>>
  readonly responses: readonly { readonly status: string; readonly description: string; readonly schema: Schema | null }[]
  /** True if it needs no token. */
  readonly isOpen: boolean
}

export interface Group {
  readonly tag: string
  readonly title: string
  readonly operations: readonly Operation[]
}

/** What the page knows of the API. */
export interface Description {
  readonly groups: readonly Group[]
  readonly version: string
  readonly about: string
  /** Follows references until there is none. */
  resolve(schema: Schema): Schema
}

type Raw = { readonly [key: string]: never }

/** Reads a document. */
export function readDescription(document: Schema): Description {
  const resolve = (schema: Schema): Schema => {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    const found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((value, key) => (value as Raw | undefined)?.[key], document)
    return found === undefined ? {} : resolve(found as Schema)
  }
  const operations = Object.entries(document.paths as Schema).flatMap(([path, methods]) =>
    Object.entries(methods as Schema).map(([method, raw]) => readOperation(path, method, raw as Schema, resolve)),
  )
  const info = document.info as { readonly version: string; readonly description?: string }
  const groups = (document.tags as readonly { readonly name: string; readonly description: string }[]).map(({ name, description }) => ({
    tag: name,
    title: description,
    operations: operations.filter(({ tag }) => tag === name),
  }))
  return { groups, version: info.version, about: info.description ?? '', resolve }
}

function readOperation(path: string, method: string, raw: Schema, resolve: Description['resolve']): Operation {
  const contentOf = (value: Schema): Readonly<Record<string, Schema>> =>
    Object.fromEntries(
      Object.entries((value.content ?? {}) as Record<string, { schema: Schema }>).map(([type, { schema }]) => [type, schema]),
    )
  const responses = Object.entries(raw.responses as Record<string, Schema>).map(([status, given]) => {
    const response = resolve(given)
    return { status, description: String(response.description), schema: contentOf(response)['application/json'] ?? null }
  })
  return {
    id: String(raw.operationId),
    method: method.toUpperCase(),
    path,
    tag: String((raw.tags as readonly string[])[0]),
    summary: String(raw.summary),
    description: String(raw.description ?? ''),
    parameters: ((raw.parameters ?? []) as readonly Schema[]).map((parameter) => resolve(parameter) as Parameter),
    body: raw.requestBody === undefined ? {} : contentOf(raw.requestBody as Schema),
    responses,
    isOpen: ((raw.security ?? []) as readonly object[]).some((one) => Object.keys(one).length === 0),
  }
}
