// The options of a client.

/** A token, or a function that returns the current one. */
export type TokenSource = string | null | undefined | (() => string | null | undefined | Promise<string | null | undefined>)

export interface ClientOptions {
  /** The URL of the API with its prefix: `https://cms.example.org/api`. */
  readonly url: string
  /** An API token or the JWT of a user, sent as `Authorization: Bearer`. */
  readonly token?: TokenSource
  /** Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<globalThis.Response>
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}
