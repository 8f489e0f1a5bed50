// Where files lie. A store takes finished files under names that we made, and nothing else: no caller's text is a path.

export interface Storage {
  /** What the column `provider` says of files that lie here. */
  readonly provider: string
  /** True where every act goes over a network: nobody waits for what is only being tidied up. */
  readonly remote: boolean
  /** The address of a file as its row keeps it. */
  url(name: string): string
  /**
   * Makes a finished file of the local disk readable under `name`, at once and as a whole; it may be gone from where it was.
   * @throws ApiError 503 where another machine does not take it.
   */
  put(path: string, name: string, mime: string): Promise<void>
  /** Gives a file that was put another name, in the place of what has that name; one that is not there (any more) is no error. */
  move(from: string, to: string): Promise<void>
  /** Removes a file; one that is not there is no error. */
  remove(name: string): Promise<void>
  /** Resolves when everything that was put, moved or removed survives a power cut. */
  settle(): Promise<void>
  close(): void
}

export interface StorageLimits {
  /** Milliseconds that one act at another machine may take, and may be without any progress. */
  readonly storageTimeout: number
  readonly storageIdleTimeout: number
}
