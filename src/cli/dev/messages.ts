// What the process of a service tells `octavo dev`, which started it.

/** The service listens. */
export interface Serving {
  readonly kind: 'serving'
  readonly address: string
}
