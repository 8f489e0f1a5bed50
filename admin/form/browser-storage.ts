// Storage of copies in IndexedDB, and the locks that say which of them belong to open pages.
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

/** Copies in IndexedDB. Each call fails where the browser has none, as in some private windows. */
export function createBrowserStorage(factory: IDBFactory | undefined = globalThis.indexedDB): CopyStorage {
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
    put: (copy) => change((table) => table.put(copy)),
    delete: (id) => change((table) => table.delete(id)),
    async list() {
      const table = (await database()).transaction(tableName, 'readonly').objectStore(tableName)
      return (await finished(table.getAll())) as LocalCopy[]
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
