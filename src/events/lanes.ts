// The events that a process has in hand for one consumer, in lanes: within a lane the next event is delivered only when the one before it
// is done with.

/** An event in hand. */
export interface Task {
  readonly sequence: number
  readonly lane: string
  /** Attempts so far. */
  readonly attempts: number
  /** Milliseconds since 1970 before which it is not attempted. */
  readonly dueAt: number
  /** True if the database says that it waits, so that the cursor may be beyond it. */
  readonly isStored: boolean
}

/** The lanes of a consumer. */
export interface Lanes {
  has(sequence: number): boolean
  add(task: Task): void
  /** Takes the next task that may be attempted at `now`; it keeps its place in its lane. */
  take(now: number): Task | null
  /** Ends the attempt of a task, which leaves its lane, or stays in it as `next`. The next one of the lane can be taken from now on. */
  end(task: Task, next: Task | null): void
  /** Tasks that the database does not know of, behind one that waits for another attempt or is among these. */
  behind(failed: readonly Task[]): readonly Task[]
  /** Notes that the database knows that this task waits. */
  stored(task: Task): void
  /** How many tasks the database knows of, and of how many it does not. */
  counts(): { readonly stored: number; readonly unstored: number }
  /** The lowest sequence that the database does not know of, but for these; null if there is none. */
  firstUnstored(except: ReadonlySet<number>): number | null
  /** When the next task may be attempted; null if there is none, or all are being attempted. Milliseconds since 1970. */
  nextDue(): number | null
  /** How many tasks are being attempted. */
  running(): number
}

export function openLanes(): Lanes {
  /** In the order in which lanes get their turns; the tasks of a lane in the order of their sequences. */
  const lanes = new Map<string, Task[]>()
  const taken = new Set<string>()
  const tasks = new Map<number, Task>()

  const replace = (task: Task): void => {
    tasks.set(task.sequence, task)
    const lane = lanes.get(task.lane)!
    lane[lane.findIndex(({ sequence }) => sequence === task.sequence)] = task
  }
  const heads = function* (): Iterable<Task> {
    for (const [name, [head]] of lanes) if (!taken.has(name)) yield head!
  }

  return {
    has: (sequence) => tasks.has(sequence),
    add: (task) => {
      tasks.set(task.sequence, task)
      const lane = lanes.get(task.lane) ?? []
      // The first one may be under way.
      const from = taken.has(task.lane) ? 1 : 0
      const at = lane.findIndex(({ sequence }, index) => index >= from && sequence > task.sequence)
      lane.splice(at === -1 ? lane.length : at, 0, task)
      lanes.set(task.lane, lane)
    },
    take: (now) => {
      for (const task of heads()) {
        if (task.dueAt > now) continue
        taken.add(task.lane)
        return task
      }
      return null
    },
    end: (task, next) => {
      taken.delete(task.lane)
      if (next !== null) return replace(next)
      tasks.delete(task.sequence)
      const rest = lanes.get(task.lane)!.filter(({ sequence }) => sequence !== task.sequence)
      lanes.delete(task.lane)
      // Behind all others, so that each gets its turn.
      if (rest.length > 0) lanes.set(task.lane, rest)
    },
    behind: (failed) => {
      const names = new Set(failed.map(({ lane }) => lane))
      const isWaiting = ({ lane, attempts }: Task) => names.has(lane) || (attempts > 0 && !taken.has(lane))
      return [...lanes.values()].flatMap(([head, ...rest]) => (isWaiting(head!) ? rest.filter((task) => !task.isStored) : []))
    },
    stored: (task) => replace({ ...task, isStored: true }),
    counts: () => {
      let stored = 0
      for (const { isStored } of tasks.values()) if (isStored) stored++
      return { stored, unstored: tasks.size - stored }
    },
    firstUnstored: (except) => least(tasks.values(), ({ sequence, isStored }) => (isStored || except.has(sequence) ? null : sequence)),
    nextDue: () => least(heads(), ({ dueAt }) => dueAt),
    running: () => taken.size,
  }
}

/** The least number of some tasks; null if none has one. */
function least(tasks: Iterable<Task>, of: (task: Task) => number | null): number | null {
  let found: number | null = null
  for (const task of tasks) {
    const number = of(task)
    if (number !== null && (found === null || number < found)) found = number
  }
  return found
}
