// Actions on a whole document: publish, take back, discard, delete, fill, restore. Each waits for the saver.
import type { ServerError } from '../../form/errors.js'
import { splitPath } from '../../form/paths.js'
import { ApiFailure, type Data, request } from '../../server/client.js'
import type { DocumentForm } from './document-form.js'
import { type DocumentView, stateHeader, toServerDocument } from './document-network.js'

/** The check of a locale before its publication. */
export type PublicationCheck = Data<'/content/{type}/{document}/check', 'GET'>[number]

/** Documents that link here, by type and attribute. */
export type Uses = Data<'/content/{type}/{document}/uses', 'GET'>

const named = (form: DocumentForm, documentId: string) => ({ type: form.type.uid, document: documentId })

/** Reads a document in a locale. */
export const readView = async (form: DocumentForm, documentId: string, locale: string | null): Promise<DocumentView> =>
  (await request('GET', '/content/{type}/{document}', { path: named(form, documentId), query: locale === null ? {} : { locale } })).data

/** Saves all changes. True if the server has everything that the form shows. */
export async function saveAll({ saver }: DocumentForm): Promise<boolean> {
  await saver.save()
  return saver.state.phase === 'saved'
}

/** Runs a write on the document and merges its document, with what the page shows of it. */
async function act(form: DocumentForm, send: (documentId: string, revision: string | null) => Promise<DocumentView>): Promise<void> {
  await form.saver.act(async (documentId, revision) => {
    try {
      const view = await send(documentId, revision)
      form.update({ view })
      return toServerDocument(view)
    } catch (error) {
      // After a change of others, their document is merged, and the action can be tried again.
      if (error instanceof ApiFailure && error.status === 412) void form.saver.refresh()
      throw error
    }
  })
}

type LocaleAction = 'publish' | 'unpublish' | 'discard'

/** Publishes, takes back or discards in locales, the form's among them. @throws ApiFailure, Offline */
export async function actInLocales(form: DocumentForm, action: LocaleAction, locales: readonly string[]): Promise<void> {
  await act(form, async (documentId, revision) => {
    const others = locales.filter((locale) => locale !== form.locale)
    const views = await Promise.all(others.map((locale) => readView(form, documentId, locale)))
    const states = [revision, ...views.map((view) => view.revision)].map((one) => `"${one}"`)
    await request('POST', `/content/{type}/{document}/${action}`, {
      path: named(form, documentId),
      query: form.locale === null ? {} : { locale: locales.join(',') },
      headers: { 'if-match': states.join(', '), 'idempotency-key': crypto.randomUUID() },
    })
    return readView(form, documentId, form.locale)
  })
}

/** Publishes the form's locale and others. @throws ApiFailure, Offline */
export async function publish(form: DocumentForm, locales: readonly string[]): Promise<void> {
  try {
    await actInLocales(form, 'publish', locales)
    form.store.setErrors('publication', [])
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 400)
      placePublicationErrors(
        form,
        error.errors.map((one) => ({ ...one, path: one.path ?? [] })),
      )
    throw error
  }
}

/** Cancels a scheduled action. @throws ApiFailure, Offline */
export async function unschedule(
  form: DocumentForm,
  { action, locale }: Pick<DocumentView['scheduled'][number], 'action' | 'locale'>,
): Promise<void> {
  const query = { action, ...(locale === null ? {} : { locale }) }
  await request('DELETE', '/content/{type}/{document}/schedule', { path: named(form, form.saver.state.documentId!), query })
  const { view } = form.meta
  // The document may fail to load.
  if (view !== null)
    form.update({ view: { ...view, scheduled: view.scheduled.filter((one) => one.action !== action || one.locale !== locale) } })
  await form.saver.refresh()
}

/** Shows at the fields what would refuse a publication, and returns the path of the first error of an attribute. */
export function placeCheck(form: DocumentForm, { errors }: PublicationCheck, attribute: string): string {
  placePublicationErrors(form, errors)
  const isWanted = ({ path }: { readonly path: string }) => splitPath(path)[0] === attribute
  return form.store.allErrors().find(isWanted)?.path ?? attribute
}

/** Shows at the fields what would refuse a publication. */
export function placePublicationErrors({ store }: DocumentForm, errors: readonly ServerError[]): void {
  store.setErrors('publication', store.placeErrors('publication', errors))
}

/** Checks the locales that exist. @throws ApiFailure, Offline */
export async function checkPublication(form: DocumentForm): Promise<readonly PublicationCheck[]> {
  const { documentId } = form.saver.state
  if (documentId === null) return []
  const query = form.locale === null ? {} : { locale: '*' }
  const { data } = await request('GET', '/content/{type}/{document}/check', { path: named(form, documentId), query })
  const own = data.find(({ locale }) => locale === form.locale)
  placePublicationErrors(form, own?.errors ?? [])
  return data
}

/** Reads the documents that link to the document. */
export async function readUses(form: DocumentForm): Promise<Uses> {
  const { documentId } = form.saver.state
  if (documentId === null) return []
  return (await request('GET', '/content/{type}/{document}/uses', { path: named(form, documentId) })).data
}

/** Deletes the form's locale, or all. @throws ApiFailure, Offline */
export async function deleteDocument(form: DocumentForm, isAll: boolean): Promise<void> {
  const { documentId, revision } = form.saver.state
  if (documentId === null) return
  const locales = isAll
    ? (form.meta.view?.locales ?? []).flatMap(({ locale }) => (locale === null || locale === form.locale ? [] : [locale]))
    : []
  const views = await Promise.all(locales.map((locale) => readView(form, documentId, locale)))
  const own = revision === null ? [] : [revision]
  const states = [...own, ...views.map((view) => view.revision)].map((one) => `"${one}"`)
  const query = form.locale === null ? {} : { locale: isAll ? '*' : form.locale }
  await request('DELETE', '/content/{type}/{document}', {
    path: named(form, documentId),
    query,
    headers: { 'if-match': states.join(', ') },
  })
}

/** Makes a copy and returns its id. @throws ApiFailure, Offline */
export async function cloneDocument(form: DocumentForm): Promise<string | null> {
  const { documentId } = form.saver.state
  if (documentId === null) return null
  const { data } = await request('POST', '/content/{type}/{document}/clone', {
    path: named(form, documentId),
    query: form.locale === null ? {} : { locale: form.locale },
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: {} as never,
  })
  return data.documentId
}

/** Fills attributes from another locale. @throws ApiFailure, Offline */
export async function fillFrom(form: DocumentForm, from: string, fields: readonly string[]): Promise<void> {
  await act(form, async (documentId, revision) => {
    const { data } = await request('POST', '/content/{type}/{document}/fill', {
      path: named(form, documentId),
      query: form.locale === null ? {} : { locale: form.locale },
      headers: { ...stateHeader(revision), 'idempotency-key': crypto.randomUUID() },
      body: { from, fields: [...fields] },
    })
    return data
  })
}

/** Gives the draft the values of a version: some attributes, or all that may be changed (null). @throws ApiFailure, Offline */
export async function restoreVersion(form: DocumentForm, id: number, fields: readonly string[] | null): Promise<void> {
  await act(form, async (documentId, revision) => {
    const { data } = await request('POST', '/content/{type}/{document}/history/{id}/restore', {
      path: { ...named(form, documentId), id } as never,
      query: form.locale === null ? {} : { locale: form.locale },
      headers: { ...stateHeader(revision), 'idempotency-key': crypto.randomUUID() },
      body: (fields === null ? {} : { fields: [...fields] }) as never,
    })
    return data as DocumentView
  })
}
