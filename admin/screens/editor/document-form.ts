// The form of an open document: its values, its saver, its copy in the browser, and facts from the server.
import { mayWrite } from '../../fields/document.js'
import { createBrowserStorage, holdCopy, isCopyHeld, untilReleased } from '../../form/browser-storage.js'
import { type CopiedDocument, type CopyKeeper, createCopyKeeper, findCopies, type LocalCopy, restoreCopy } from '../../form/local-copy.js'
import { type Clock, createSaver, type DoubtfulRequest, type Saver } from '../../form/saver.js'
import { createDocumentStore, createNewDocumentStore, type DocumentStore } from '../../form/store.js'
import type { Received } from '../../form/storing.js'
import { type Entry, isLocalized, type Shape } from '../../form/values.js'
import type { Data } from '../../server/client.js'
import { createDocumentNetwork, type DocumentView, toServerDocument } from './document-network.js'

/** A type with its components and layouts. */
export type TypeDescription = Data<'/types/{type}', 'GET'>

/** Changes of others that were merged. */
export interface TheirChanges {
  readonly person: string | null
  readonly paths: readonly string[]
}

/** Facts about the document apart from its values. */
export interface DocumentMeta {
  readonly view: DocumentView | null
  /** Copies of earlier pages that were not saved. */
  readonly copies: readonly LocalCopy[]
  readonly theirs: TheirChanges | null
}

/** The form of an open document. */
export interface DocumentForm {
  readonly type: TypeDescription
  readonly locale: string | null
  readonly user: string
  readonly store: DocumentStore
  readonly saver: Saver
  readonly keeper: CopyKeeper
  readonly meta: DocumentMeta
  subscribe(this: void, listener: () => void): () => void
  update(changes: Partial<DocumentMeta>): void
  /** Ends the form; unsaved changes remain as a copy. */
  close(): void
}

/** The document of a form. */
export interface FormOptions {
  readonly type: TypeDescription
  readonly locale: string | null
  /** Id of the administrator. */
  readonly user: string
  /** Null: a new document. */
  readonly view: DocumentView | null
  /** For a locale that a document does not have yet. */
  readonly documentId: string | null
  /** Initial values of such a locale. */
  readonly shared?: Entry
  readonly onCreated: (documentId: string) => void
}

const openForms = new Set<DocumentForm>()

/** The open forms of the same document in other languages. */
export const siblingsOf = ({ type, locale, saver }: DocumentForm): readonly DocumentForm[] =>
  [...openForms].filter(
    (one) => one.type.uid === type.uid && one.locale !== locale && one.saver.state.documentId === saver.state.documentId,
  )

/** Copies of all forms of the page. */
export const copyStorage = createBrowserStorage()

const clock: Clock = {
  now: () => Date.now(),
  wait(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** The attributes of a type in the terms of the form. */
export const shapeOf = ({ attributes, components }: TypeDescription): Shape => ({ attributes, components }) as unknown as Shape

/** True if the administrator may publish the document. */
export const mayPublish = ({ draftAndPublish, actions }: TypeDescription, view: DocumentView | null): boolean =>
  draftAndPublish && view?.may.publish !== false && actions.includes('publish')

/** Values shared by all languages. Component entries are left out: their ids differ between languages. */
export function sharedValues({ attributes }: TypeDescription, draft: Entry): Entry {
  const shared = Object.entries(attributes as Shape['attributes']).filter(
    ([, attribute]) => !isLocalized(attribute) && !['relation', 'component', 'dynamiczone'].includes(attribute.type),
  )
  return Object.fromEntries(shared.flatMap(([name]) => (name in draft ? [[name, draft[name]]] : [])))
}

/** Default values of a new document; the service adds those that may not be written. */
function defaultsOf({ attributes }: Shape, { fields }: TypeDescription): Entry {
  const given = Object.entries(attributes).filter(([name, { default: value }]) => value !== undefined && mayWrite(fields.create, name))
  return Object.fromEntries(given.map(([name, { default: value }]) => [name, value]))
}

/** Opens the form of a document as the server has it. */
export function openForm(options: FormOptions): DocumentForm {
  const { type, view } = options
  const shape = shapeOf(type)
  const store =
    options.documentId === null
      ? createNewDocumentStore(shape, defaultsOf(shape, type))
      : createDocumentStore({ shape, data: (view?.draft ?? options.shared ?? {}) as Entry, partial: view?.more ?? [] })
  return startForm(options, { store, revision: view?.revision ?? null, doubtful: null })
}

function restore({ type, view, shared }: FormOptions, copy: LocalCopy) {
  const document = view === null ? null : toServerDocument(view)
  const given = document === null ? null : { ...document, draft: document.draft ?? shared ?? null }
  return restoreCopy(copy, given, { shape: shapeOf(type), partial: view?.more ?? [] })
}

/** Opens the form of a copy, merged with the document of the server. */
export async function openCopy(options: FormOptions, copy: LocalCopy): Promise<DocumentForm> {
  const form = startForm(options, restore(options, copy))
  await form.keeper.flush()
  if (form.keeper.isWorking) await copyStorage.delete(copy.id)
  return form
}

/**
 * The copies with changes that the server does not have. The others, which only lack the last response, are deleted: opened later, they
 * would restore an older text.
 */
export function withoutSaved(options: FormOptions, copies: readonly LocalCopy[]): readonly LocalCopy[] {
  if (options.view === null) return copies
  return copies.filter((copy) => {
    const { store } = restore(options, copy)
    const isUnsaved = store.isChanged() || store.conflicts().length > 0
    if (!isUnsaved) void copyStorage.delete(copy.id).catch(() => {})
    return isUnsaved
  })
}

interface StartedForm {
  readonly store: DocumentStore
  readonly revision: string | null
  readonly doubtful: DoubtfulRequest | null
}

function startForm(
  { type, locale, user, view, documentId, onCreated }: FormOptions,
  { store, revision, doubtful }: StartedForm,
): DocumentForm {
  const id = crypto.randomUUID()
  const listeners = new Set<() => void>()
  let meta: DocumentMeta = { view, copies: [], theirs: null }
  const update = (changes: Partial<DocumentMeta>): void => {
    meta = { ...meta, ...changes }
    for (const listener of [...listeners]) listener()
  }
  const network = createDocumentNetwork(type.uid, locale, {
    noteView: (next) => update({ view: next }),
    noteFacts: ({ documentId: written, state, updatedAt }) => {
      const present = meta.view
      // The first save of a document or a language: only the server knows what may be done with it.
      if (present === null || present.draft === null) return void network.load(written)
      const locales = present.locales.map((one) => (one.locale === present.locale && state !== null ? { ...one, state, updatedAt } : one))
      update({ view: { ...present, state, locales } })
    },
  })
  const saver: Saver = createSaver({
    store,
    network,
    clock,
    documentId,
    revision,
    doubtful,
    isAutomatic: type.draftAndPublish,
    newIdempotencyKey: () => crypto.randomUUID(),
    beforeRequest: () => keeper.flush(),
    onReceived: ({ taken }: Received, { savedBy = null }) => {
      if (taken.length > 0) update({ theirs: { person: savedBy, paths: taken } })
    },
    onCreated,
  })
  const keeper = createCopyKeeper({
    id,
    storage: copyStorage,
    store,
    clock,
    saver: () => saver,
    document: () => ({ user, type: type.uid, documentId: saver.state.documentId, locale }),
  })
  const release = holdCopy(id)
  const leave = () => {
    // First, so that the copy includes the request, which may be carried out.
    if (type.draftAndPublish) void saver.save()
    keeper.leave()
    void keeper.flush()
  }
  globalThis.addEventListener?.('pagehide', leave)
  const form: DocumentForm = {
    type,
    locale,
    user,
    store,
    saver,
    keeper,
    get meta() {
      return meta
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    update,
    close() {
      openForms.delete(form)
      globalThis.removeEventListener?.('pagehide', leave)
      const isSaved = saver.state.phase === 'saved' || saver.state.phase === 'held' || !type.draftAndPublish
      const end = async () => {
        if (!isSaved) await saver.save()
        await keeper.flush()
        saver.stop()
        keeper.stop()
        release()
      }
      void end()
    },
  }
  openForms.add(form)
  return form
}

/**
 * Reports the unsaved copies of a document that are not open in any page, and again whenever such a page ends: on a reload, the old page
 * may end after the new one has started. Resolves after the first report.
 */
export async function watchUnsaved(
  document: CopiedDocument,
  signal: AbortSignal,
  note: (copies: readonly LocalCopy[]) => void,
): Promise<void> {
  const watched = new Set<string>()
  const released = new Set<string>()
  const isOpen = async (id: string): Promise<boolean> => {
    // The wait for the lock holds it for a moment.
    if (released.has(id)) return false
    const isHeld = await isCopyHeld(id)
    if (isHeld && !watched.has(id)) {
      watched.add(id)
      const findAgain = () => {
        released.add(id)
        return find()
      }
      untilReleased(id, signal).then(findAgain, () => {})
    }
    return isHeld
  }
  const find = async (): Promise<void> => {
    const copies = await findCopies(copyStorage, document, isOpen).catch(() => [])
    if (!signal.aborted) note(copies)
  }
  await find()
}
