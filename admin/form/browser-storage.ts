// Storage of copies in IndexedDB, last copies of pages that are left, and the locks that say which of them belong to open pages.
import type { CopyStorage, LocalCopy } from './local-copy.js'

const databaseName = 'octavo'
const tableName = 'copies'

const finished = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

async function openDatabase(factory: IDBFactory): Promise<IDBDatabase> {
  const opening = factory.open(databaseName, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(tableName, { keyPath: 'id' })
  const database = await finished(opening)
  // A later version of the page may change the database.
  database.onversionchange = () => database.close()
  return database
}

const leftPrefix = 'octavo-copy-'

/** Copies of pages that were left: a browser does not finish transactions of such a page, but writes to this storage at once. */
function createLeftCopies(storage: Storage | undefined) {
  return {
    put(copy: LocalCopy): void {
      try {
        storage?.setItem(leftPrefix + copy.id, JSON.stringify(copy))
      } catch {
        // Full: the last copy in IndexedDB is at most `copyDelay` older.
      }
    },
    /** Deletes a copy, unless it was replaced since `known` was read. */
    delete(id: string, known: string | null): void {
      if (this.get(id) === known) storage?.removeItem(leftPrefix + id)
    },
    get: (id: string): string | null => storage?.getItem(leftPrefix + id) ?? null,
    list(): readonly LocalCopy[] {
      const names = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage!.key(index) ?? '')
      return names.filter((name) => name.startsWith(leftPrefix)).flatMap((name) => parseCopy(storage!.getItem(name)))
    },
  }
}

function parseCopy(text: string | null): readonly LocalCopy[] {
  try {
    return text === null ? [] : [JSON.parse(text) as LocalCopy]
  } catch {
    return []
  }
}

/** Copies in IndexedDB. Each call fails where the browser has none, as in some private windows. */
export function createBrowserStorage(
  factory: IDBFactory | undefined = globalThis.indexedDB,
  storage: Storage | undefined = globalThis.localStorage,
): CopyStorage {
  const left = createLeftCopies(storage)
  let opened: Promise<IDBDatabase> | null = null
  const change = async (work: (table: IDBObjectStore) => unknown): Promise<void> => {
    const transaction = (await database()).transaction(tableName, 'readwrite', { durability: 'relaxed' })
    work(transaction.objectStore(tableName))
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
  }
  const database = async (): Promise<IDBDatabase> => {
    if (factory === undefined) throw new Error('The browser has no IndexedDB')
    opened ??= openDatabase(factory)
    try {
      return await opened
    } catch (error) {
      opened = null
      throw error
    }
  }
  return {
    async put(copy) {
      const known = left.get(copy.id)
      await change((table) => table.put(copy))
      left.delete(copy.id, known)
    },
    putNow: left.put,
    async delete(id) {
      const known = left.get(id)
      await change((table) => table.delete(id))
      left.delete(id, known)
    },
    async list() {
      const table = (await database()).transaction(tableName, 'readonly').objectStore(tableName)
      const copies = new Map(((await finished(table.getAll())) as LocalCopy[]).map((copy) => [copy.id, copy]))
      for (const copy of left.list()) if (copy.time >= (copies.get(copy.id)?.time ?? 0)) copies.set(copy.id, copy)
      return [...copies.values()]
    },
  }
}

const lockOf = (id: string) => `octavo-copy-${id}`

/** Marks a copy as that of this page until the page is closed or the returned function called. */
export function holdCopy(id: string): () => void {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  void globalThis.navigator.locks?.request(lockOf(id), () => held)
  return release
}

/** True if the page of a copy is open. */
export async function isCopyHeld(id: string): Promise<boolean> {
  const { held = [] } = (await globalThis.navigator.locks?.query()) ?? {}
  return held.some(({ name }) => name === lockOf(id))
}

/** Resolves when the page of a copy has ended; rejects when the signal aborts. */
export async function untilReleased(id: string, signal: AbortSignal): Promise<void> {
  await globalThis.navigator.locks?.request(lockOf(id), { signal }, () => {})
}
