// Whether changes are recorded as events, which ones, and how long they are kept.

/** Who wants events. */
export interface Recording {
  /** Whether anybody wants any event: otherwise nothing is recorded, and writes have no overhead. */
  isOn(): boolean
  /** Calls `changed` whenever `isOn` may return something else. */
  onChange(changed: () => void): void
  /** Whether anybody wants events of this name. */
  wants(event: string): boolean
  /** The names of consumers that get events from the next one on and have no cursor yet. */
  unregistered(): readonly string[]
  /** The oldest event that a consumer may still need; Infinity if there is no consumer. */
  neededFrom(): number
  /** Called after commits that recorded events. */
  committed(): void
}
