/** The folder of PostgreSQL's programs; null: not installed. */
export function programs(): string | null
/** The user that runs servers where root does not; null: there is none. */
export function serverUser(): { readonly uid: number; readonly gid: number } | null
/** Why no cluster can be started here; null: one can. */
export function missingForCluster(): string | null
/** A server of its own. */
export interface Cluster {
  readonly port: number
  readonly url: string
  /** Ends the server as a crash does, and starts it again. */
  crash(): Promise<void>
  /** Ends the server as a crash does. */
  kill(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  /** Ends it as a crash does, and starts it on another port. */
  restartAt(port: number): Promise<void>
  /** Makes a standby a primary. */
  promote(): Promise<void>
  /** The id of the server's first process. */
  pid(): number
  /** Ends it and removes its files. */
  stop(): void
}
export function startCluster(options: { readonly isDurable: boolean; readonly below?: string | null }): Promise<Cluster>
/** Starts a streaming replica of a cluster, on this port or a free one. */
export function startReplica(primary: Pick<Cluster, 'port'>, at?: number): Promise<Cluster>
