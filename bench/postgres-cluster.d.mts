/** Why no cluster can be started here; null: one can. */
export function missingForCluster(): string | null
export function startCluster(options: { readonly isDurable: boolean; readonly below?: string | null }): Promise<{
  readonly port: number
  readonly url: string
  crash(): Promise<void>
  stop(): void
}>
