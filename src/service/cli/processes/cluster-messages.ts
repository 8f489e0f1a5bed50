// What processes of services tell the one that has started them.

/** From a process: its code is loaded, or the service listens. */
export type FromService = { readonly kind: 'loaded' } | { readonly kind: 'serving'; readonly address: string }

/** Tells the process that has started this one. */
export const tellStarter = (message: FromService): void => void process.send?.(message)
