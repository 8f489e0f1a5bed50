/** Why no server can be started here; null: one can. */
export function missingForMariadb(): string | null
export function startMariadb(options: { readonly isDurable: boolean; readonly below?: string | null }): Promise<{
  readonly url: string
  crash(): Promise<void>
  stop(): Promise<void>
}>
