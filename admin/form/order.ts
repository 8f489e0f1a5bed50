// Orders of lists by key: differences as operations, and the application of these to another order.

/** A key in a new position, after another one or (null) at the start. */
export interface Placement {
  readonly key: string
  readonly after: string | null
  readonly isNew: boolean
}

/** Difference of two orders: keys without a position in the second, and placements in their order. */
interface OrderChanges {
  readonly removed: readonly string[]
  readonly placed: readonly Placement[]
}

/** The longest increasing sequence of positions; its members keep their places. */
function longestIncreasing(values: readonly number[]): ReadonlySet<number> {
  const ends: number[] = []
  const previous: number[] = []
  values.forEach((value, index) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (values[ends[middle]!]! < value) low = middle + 1
      else high = middle
    }
    previous[index] = low > 0 ? ends[low - 1]! : -1
    ends[low] = index
  })
  const members = new Set<number>()
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]!) members.add(values[at]!)
  return members
}

/** The fewest operations that make the first order the second. */
export function compareOrders(base: readonly string[], mine: readonly string[]): OrderChanges {
  const before = new Map(base.map((key, index) => [key, index]))
  const remaining = new Set(mine)
  const unmoved = longestIncreasing(mine.flatMap((key) => before.get(key) ?? []))
  const placed = mine.flatMap((key, index): Placement[] => {
    const position = before.get(key)
    return position !== undefined && unmoved.has(position) ? [] : [{ key, after: mine[index - 1] ?? null, isNew: position === undefined }]
  })
  return { removed: base.filter((key) => !remaining.has(key)), placed }
}

/**
 * Applies my changes of an order to another order. A neighbour that is missing there is replaced by the nearest earlier one in `mine`.
 */
export function applyOrder(theirs: readonly string[], mine: readonly string[], changes: OrderChanges): readonly string[] {
  const removed = new Set(changes.removed)
  const order = theirs.filter((key) => !removed.has(key))
  for (const { key } of changes.placed) {
    const at = order.indexOf(key)
    if (at >= 0) order.splice(at, 1)
    let after = mine.indexOf(key) - 1
    while (after >= 0 && !order.includes(mine[after]!)) after -= 1
    order.splice(after < 0 ? 0 : order.indexOf(mine[after]!) + 1, 0, key)
  }
  return order
}
