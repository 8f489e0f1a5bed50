// The form of the document of the address: loaded, opened, and closed when the address changes.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { LocalCopy } from '../../form/local-copy.js'
import type { Entry } from '../../form/values.js'
import { ApiFailure } from '../../server/client.js'
import { isOnline, subscribeToConnection } from '../../server/connection.js'
import { documentQuery, typeQuery } from '../../server/queries.js'
import { sessionState, subscribeToSession } from '../../server/session.js'
import {
  type DocumentForm,
  type DocumentMeta,
  type FormOptions,
  openCopy,
  openForm,
  sharedValues,
  type TypeDescription,
  watchUnsaved,
  withoutSaved,
} from './document-form.js'
import type { DocumentView } from './document-network.js'

/** A form, or its state before that. */
type OpenedForm =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'open'; readonly form: DocumentForm }

/** Opens the form of a document. `replace` puts another form in its position, such as that of a copy. */
export function useDocumentForm(
  type: string | null,
  document: string | null,
  locale: string | null,
  onCreated: (documentId: string) => void,
): { readonly opened: OpenedForm; readonly replace: (form: DocumentForm) => void } {
  const queries = useQueryClient()
  const [opened, setOpened] = useState<OpenedForm>({ kind: 'loading' })
  const session = useSession(document)
  const current = useRef<DocumentForm>(null)
  useEffect(() => {
    let isCurrent = true
    const watching = new AbortController()
    setOpened((before) => (before.kind === 'open' && before.form.locale !== locale ? before : { kind: 'loading' }))
    if (type === null) return
    const open = async () => {
      const user = userOf()
      const key = session.document
      let copies: DocumentMeta['copies'] = []
      let options: FormOptions | null = null
      const show = (form: DocumentForm) => {
        if (!isCurrent) return form.close()
        current.current?.close()
        current.current = form
        form.update({ copies })
        setOpened({ kind: 'open', form })
      }
      /** Opens the form with an undecided conflict as it was left, unless the present one is edited by then. */
      const showCopy = async (given: FormOptions, undecided: LocalCopy) => {
        copies = copies.filter((copy) => copy !== undecided)
        const form = await openCopy(given, undecided)
        if (isTypedIn()) form.close()
        else show(form)
      }
      const isTypedIn = () => current.current !== null && current.current.store.edits > 0
      const noteCopies = (found: DocumentMeta['copies']) => {
        copies = options === null ? found : withoutSaved(options, found)
        const undecided = copies.find(isUndecided)
        if (options !== null && undecided !== undefined && current.current !== null && !isTypedIn()) void showCopy(options, undecided)
        else current.current?.update({ copies })
      }
      const [{ data: description }, view] = await Promise.all([
        queries.fetchQuery(typeQuery(type)),
        key === null ? null : load(key),
        watchUnsaved({ user, type, documentId: key, locale }, watching.signal, noteCopies),
      ])
      if (!isCurrent) return
      const note = (documentId: string) => {
        session.created = documentId
        latest.current(documentId)
      }
      const shared = view === null ? undefined : await loadShared(description, view)
      if (!isCurrent) return
      options = { type: description, locale, user, view, documentId: key, onCreated: note, ...(shared && { shared }) }
      copies = withoutSaved(options, copies)
      const undecided = copies.find(isUndecided)
      if (undecided === undefined) show(openForm(options))
      else await showCopy(options, undecided)
    }
    const load = async (documentId: string): Promise<DocumentView> => {
      const query = { ...documentQuery(type, documentId, locale), staleTime: 0 }
      return (await queries.fetchQuery(query)).data
    }
    /** Shared values for a language without a draft; undefined if no other draft can be read. */
    const loadShared = async (description: TypeDescription, view: DocumentView): Promise<Entry | undefined> => {
      const [other] = view.locales
      if (view.draft !== null || other === undefined) return
      const found = await queries.fetchQuery({ ...documentQuery(type, view.documentId, other.locale), staleTime: 0 }).catch(() => null)
      return found?.data.draft ? sharedValues(description, found.data.draft as Entry) : undefined
    }
    open().catch((error: Error) => {
      if (isCurrent) setOpened({ kind: 'failed', error })
    })
    return () => {
      isCurrent = false
      watching.abort()
      current.current?.close()
      current.current = null
    }
  }, [queries, type, session, locale])
  const latest = useRef(onCreated)
  useEffect(() => {
    latest.current = onCreated
  })
  useResuming(opened)
  const replace = (form: DocumentForm) => {
    current.current?.close()
    current.current = form
    setOpened({ kind: 'open', form })
  }
  return { opened, replace }
}

const isUndecided = ({ form: { conflicts = [] } }: LocalCopy): boolean => conflicts.length > 0

interface Session {
  document: string | null
  created: string | null
}

/** Another session begins with another document, but not when a new document gets its id: its form stays. */
function useSession(document: string | null): Session {
  const [session, setSession] = useState<Session>({ document, created: null })
  if (session.document === document) return session
  if (session.document === null && session.created === document) {
    session.document = document
    return session
  }
  const next = { document, created: null }
  setSession(next)
  return next
}

const userOf = (): string => {
  const session = sessionState()
  return 'administrator' in session ? String(session.administrator) : ''
}

/** Saves again as soon as the network or the session is back. */
function useResuming(opened: OpenedForm): void {
  const form = opened.kind === 'open' ? opened.form : null
  useEffect(() => {
    if (form === null) return
    const ends = [
      subscribeToConnection(() => isOnline() && form.saver.resume()),
      subscribeToSession(() => sessionState().kind === 'signedIn' && form.saver.resume()),
    ]
    return () => {
      for (const end of ends) end()
    }
  }, [form])
}

/** Facts about the document of a form. */
export const useMeta = (form: DocumentForm): DocumentMeta => useSyncExternalStore(form.subscribe, () => form.meta)

/** True for a document that does not exist, or may not be seen. */
export const isMissing = (error: Error): boolean => error instanceof ApiFailure && error.status === 404
