// The installation in force, and those that requests still hold. It is replaced as a whole, and closed when its last request has ended.
import { createIdempotencyKeys } from '../content/documents/idempotency.js'
import { createInSync } from '../content/documents/store/modified-drafts.js'
import { ApiError } from '../foundation/errors/errors.js'
import { elapsed } from '../foundation/runtime/clock.js'
import type { Model } from '../model/schema/types.js'
import {
  type Installation,
  type InstallationOptions,
  type InstalledModel,
  type Lasting,
  type OpenedInstallation,
  openInstallation,
} from './installation.js'

/** An installation held by one request. */
interface HeldInstallation {
  readonly installation: Installation
  /** Releases the installation; may be called more than once. */
  end(): void
}

/** A held installation, at once or after content has been moved. */
type Entered = HeldInstallation | Promise<HeldInstallation>

/** Runs work with a held installation, and releases it. */
export async function holding<Result>(entered: Entered, work: (installation: Installation, end: () => void) => Promise<Result>) {
  const held = entered instanceof Promise ? await entered : entered
  try {
    return await work(held.installation, held.end)
  } finally {
    held.end()
  }
}

export interface Installations {
  /** The model in force, for what depends on no caller: the methods of a path, the start page. */
  model(): Model
  /**
   * Holds the installation in force, with this default locale, until it is released; waits where content is about to be moved. `isNested`: on
   * behalf of what may hold one already.
   */
  enter(defaultLocale: string, isNested?: boolean): Entered
  /**
   * Runs `work` while no request holds an installation; one at a time.
   * @throws ApiError 503 if those that are held are not released within `wait` milliseconds
   */
  alone<Result>(wait: number, work: () => Promise<Result>): Promise<Result>
  /** Puts a new model in force for the requests that come from now on. `change`: the last change of the model that it contains. */
  replace(model: Model, change: number): void
  /** Closes the installation in force when its last request has ended. */
  close(): void
}

interface Opened extends OpenedInstallation {
  /** The last change that its model contains. */
  readonly change: number
  /** Requests that hold it. */
  holders: number
  isRetired: boolean
}

/** An installation without holders. */
const beginUse = (opened: OpenedInstallation, change: number): Opened => ({ ...opened, change, holders: 0, isRetired: false })

/** The installations that are in force or still held, and who waits until none is held. */
interface Use {
  readonly opened: Set<Opened>
  exclusion: Exclusion | null
}

const holdersOf = ({ opened }: Use): number => [...opened].reduce((sum, { holders }) => sum + holders, 0)

async function alone<Result>(use: Use, wait: number, work: () => Promise<Result>): Promise<Result> {
  const exclusion = beginExclusion()
  use.exclusion = exclusion
  try {
    if (await exclusion.alone(holdersOf(use), wait)) return await work()
  } finally {
    use.exclusion = null
    exclusion.end()
  }
  throw new ApiError('ServiceUnavailableError', 'Requests under way did not end in time. Nothing was changed; try again')
}

export function openInstallations(options: InstallationOptions): Installations {
  const lasting: Lasting = { keys: createIdempotencyKeys(options.config.limits), inSync: createInSync() }
  const open = (installed: InstalledModel): Opened => beginUse(openInstallation(options, lasting, installed), installed.change)
  let current = open(options)
  const use: Use = { opened: new Set([current]), exclusion: null }
  let isRecording = options.recording.isOn()
  options.recording.onChange(() => {
    isRecording = options.recording.isOn()
  })

  function release(opened: Opened): void {
    use.exclusion?.ended(holdersOf(use))
    if (!opened.isRetired) return
    use.opened.delete(opened)
    opened.close()
  }

  /** Closes an unused installation. */
  function settle(opened: Opened): void {
    if (opened.holders === 0 && (opened.isRetired || use.exclusion !== null)) release(opened)
  }

  function change(installed: InstalledModel): void {
    const former = current
    current = open(installed)
    use.opened.add(current)
    former.isRetired = true
    settle(former)
  }

  function enter(defaultLocale: string, isNested = false): Entered {
    if (use.exclusion?.admits(isNested) === false) return use.exclusion.change().then(() => enter(defaultLocale, isNested))
    const { installation } = current
    if (installation.defaultLocale !== defaultLocale || current.records !== isRecording)
      change({ ...current, model: installation.model, defaultLocale })
    const held = current
    held.holders++
    let isOver = false
    return {
      installation: held.installation,
      end: () => {
        if (isOver) return
        isOver = true
        held.holders--
        settle(held)
      },
    }
  }

  return {
    model: () => current.installation.model,
    enter,
    alone: (wait, work) => alone(use, wait, work),
    replace: (model, last) => change({ model, change: last, defaultLocale: current.installation.defaultLocale }),
    close: () => {
      current.isRetired = true
      settle(current)
    },
  }
}

/** Uses wait while there is one. Whoever has it counts the uses. */
interface Exclusion {
  /**
   * Whether a use may begin. `isNested`: it may be part of another use, so it waits only while the work runs, not while that waits for uses
   * under way.
   */
  admits(isNested: boolean): boolean
  /** Resolves when a use that is not admitted may try again. */
  change(): Promise<void>
  /** Is told how many uses are left when one has ended. */
  ended(uses: number): void
  /** Resolves to whether nothing is in use, after `wait` milliseconds at most. From then on nothing is admitted, if so. */
  alone(uses: number, wait: number): Promise<boolean>
  /** Lets those that wait try again. */
  end(): void
}

/** Begins one. */
function beginExclusion(): Exclusion {
  let isAlone = false
  let waiting: (() => void)[] = []
  let settled: (() => void) | null = null
  return {
    admits: (isNested) => isNested && !isAlone,
    change: () => new Promise((go) => waiting.push(go)),
    ended: (uses) => {
      if (uses === 0) settled?.()
    },
    alone: async (uses, wait) => {
      let left = uses
      const deadline = elapsed() + wait
      while (left > 0 && elapsed() < deadline) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((go) => {
          settled = () => {
            left = 0
            isAlone = true
            go()
          }
          timer = setTimeout(go, deadline - elapsed())
        })
        clearTimeout(timer)
        settled = null
      }
      isAlone ||= left === 0
      return isAlone
    },
    end: () => {
      const now = waiting
      waiting = []
      for (const go of now) go()
    },
  }
}
