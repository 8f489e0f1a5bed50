// The interface that validation libraries share (https://standardschema.dev, version 1): Zod, Valibot, ArkType and others implement it.

/** What a validator says of a value. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** Why a value is invalid, and where. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The part of a library's schema that is Standard JSON Schema. */
export interface JsonSchemaConverter {
  input(options: JsonSchemaOptions): Record<string, unknown>
  output(options: JsonSchemaOptions): Record<string, unknown>
}

/** What a converter is asked for. */
export interface JsonSchemaOptions {
  readonly target: 'draft-2020-12'
  readonly libraryOptions?: Record<string, unknown> | undefined
}

/** A schema of any library that implements the interface. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Converts the schema to JSON Schema, for descriptions of the API: what it takes, and what it returns. Not every library has it. */
    readonly jsonSchema?: JsonSchemaConverter | undefined
    /** Never there: it only carries the types. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}
