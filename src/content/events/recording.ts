// Decides which changes are recorded as events, and how long these are stored.

/** The consumers of events. */
export interface Recording {
  /** False: there are no consumers, so nothing is recorded, and writes have no overhead. */
  isOn(): boolean
  /** Calls `changed` whenever `isOn` may return something else. */
  onChange(changed: () => void): void
  /** True if a consumer wants events of this name. */
  wants(event: string): boolean
  /** The names of consumers that get events from the next one on and have no cursor yet. */
  unregistered(): readonly string[]
  /** The oldest event that a consumer may still need; Infinity if there is no consumer. */
  neededFrom(): number
  /** Called after commits that recorded events. */
  committed(): void
}
