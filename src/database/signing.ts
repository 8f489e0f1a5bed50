// How the addresses of private files are signed in answers.
/** How addresses are signed, as plain data for the threads. `lifetime` in seconds. */
export type Signing = {
  /** The type whose rows are files: `url` and the `url`s inside `formats` are signed. */
  readonly type: string
  /** What addresses of our own begin with; the rest is the file's name. Others stay as they are. */
  readonly prefixes: readonly string[]
  readonly lifetime: number
} & (
  | { readonly kind: 'local'; readonly secret: string }
  | {
      readonly kind: 's3'
      readonly origin: string
      /** What stands before a file's name in the path of `origin`. */
      readonly path: string
      readonly region: string
      readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string | undefined }
    }
)
