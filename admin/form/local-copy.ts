// Copies of unsaved changes in the browser: written soon after each change, removed when the server has it, offered when the document is
// opened again.
import { type Clock, changeOf, type DoubtfulRequest, type Saver, type ServerDocument } from './saver.js'
import { type DocumentStore, type DocumentStoreOptions, restoreDocumentStore } from './store.js'
import type { StoredForm } from './storing.js'

/** The document of a copy. `documentId` null: it does not exist yet. */
export interface CopiedDocument {
  /** The administrator, since several may use a browser. */
  readonly user: string
  readonly type: string
  readonly documentId: string | null
  readonly locale: string | null
}

/** A stored copy. */
export interface LocalCopy extends CopiedDocument {
  readonly id: string
  readonly revision: string | null
  /** The time of the last change, in milliseconds. */
  readonly time: number
  readonly form: StoredForm
  readonly doubtful: DoubtfulRequest | null
}

/** Storage of copies by their ids. */
export interface CopyStorage {
  put(copy: LocalCopy): Promise<void>
  /** Stores a copy before it returns, for a page that is being left; does nothing where that is impossible. */
  putNow(copy: LocalCopy): void
  delete(id: string): Promise<void>
  list(): Promise<readonly LocalCopy[]>
}

/** Longest time between a change and its copy, in milliseconds. */
export const copyDelay = 300

/** Keeps the copy of a form up to date. */
export interface CopyKeeper {
  /** Writes the copy; resolves when it is stored. */
  flush(): Promise<void>
  /** Writes the copy before it returns: a page that is being left gets no later chance. */
  leave(): void
  /** False after a failure of the storage: the page has to say so. */
  readonly isWorking: boolean
  subscribe(listener: () => void): () => void
  stop(): void
}

/** The surroundings of a keeper. */
export interface CopyOptions {
  readonly id: string
  readonly storage: CopyStorage
  readonly store: DocumentStore
  readonly clock: Clock
  /** The present identity of the document: a new one gets its id later. */
  readonly document: () => CopiedDocument
  readonly saver: () => Saver
}

/** Creates the keeper of a form's copy. */
export function createCopyKeeper({ id, storage, store, clock, document, saver }: CopyOptions): CopyKeeper {
  const listeners = new Set<() => void>()
  let isWorking = true
  let isStored = false
  let stopWaiting: (() => void) | null = null
  let writing: Promise<void> = Promise.resolve()
  let isStopped = false

  const report = (works: boolean): void => {
    if (works === isWorking) return
    isWorking = works
    for (const listener of listeners) listener()
  }
  /** The present copy; null: the server has everything. */
  const current = (): LocalCopy | null => {
    const { state, doubtful } = saver()
    const isNeeded =
      doubtful !== null || store.conflicts().length > 0 || (store.isChanged() && (state.documentId !== null || store.edits > 0))
    return isNeeded ? { ...document(), id, revision: state.revision, time: clock.now(), form: store.toJSON(), doubtful } : null
  }
  const write = async (): Promise<void> => {
    const copy = current()
    try {
      if (copy !== null) {
        // From here on a removal is needed, even if the write fails half-way.
        isStored = true
        await storage.put(copy)
      } else if (isStored) {
        await storage.delete(id)
        isStored = false
      }
      report(true)
    } catch {
      report(false)
    }
  }
  const flush = (): Promise<void> => {
    stopWaiting?.()
    stopWaiting = null
    writing = writing.then(write)
    return writing
  }
  const plan = (): void => {
    if (isStopped || stopWaiting !== null) return
    stopWaiting = clock.wait(copyDelay, () => void flush())
  }
  const ends = [store.subscribe('', plan), saver().subscribe(plan)]
  const leave = (): void => {
    const copy = current()
    if (copy === null) return
    isStored = true
    storage.putNow(copy)
  }
  return {
    flush,
    leave,
    get isWorking() {
      return isWorking
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      isStopped = true
      stopWaiting?.()
      for (const end of ends) end()
    },
  }
}

/** The copies of a document that no open page works on, newest first. `isOpen` says whether the page of a copy is open. */
export async function findCopies(
  storage: CopyStorage,
  { user, type, documentId, locale }: CopiedDocument,
  isOpen: (id: string) => Promise<boolean>,
): Promise<readonly LocalCopy[]> {
  const copies = await storage.list()
  const own = copies.filter((copy) => copy.user === user && copy.type === type && copy.documentId === documentId && copy.locale === locale)
  const open = await Promise.all(own.map(({ id }) => isOpen(id)))
  return own.filter((_, index) => open[index] !== true).sort((one, other) => other.time - one.time)
}

/** A form from a copy, and what its saver begins with. */
interface RestoredForm {
  readonly store: DocumentStore
  readonly revision: string | null
  readonly doubtful: DoubtfulRequest | null
}

/** Restores a copy on the document of today; null: it does not exist. */
export function restoreCopy(
  copy: LocalCopy,
  document: Omit<ServerDocument, 'documentId'> | null,
  options: Omit<DocumentStoreOptions, 'data'>,
): RestoredForm {
  const store = restoreDocumentStore(copy.form, options)
  // A request that may still be carried out is repeated as it was.
  if (document === null || document.revision === copy.revision) return { store, revision: copy.revision, doubtful: copy.doubtful }
  store.receive(document.draft ?? {}, changeOf(document))
  return { store, revision: document.revision, doubtful: null }
}
