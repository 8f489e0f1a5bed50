// The interface that validation libraries share (https://standardschema.dev, version 1): Zod, Valibot, ArkType and others implement it.

/** What a validator says of a value. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** Why a value is invalid, and where. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema of any library that implements the interface. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Never there: it only carries the types. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}
