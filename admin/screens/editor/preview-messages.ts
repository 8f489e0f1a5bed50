// Messages from previewed pages, which are untrusted, and the fields that they name.
import { placePath } from '../../form/paths.js'
import type { DocumentForm } from './document-form.js'

/** A message from a page: it has loaded, or a text with a source was clicked. */
export type PreviewMessage =
  | { readonly kind: 'ready'; readonly isConnected: boolean }
  | { readonly kind: 'field'; readonly documentId: string; readonly locale: string | null; readonly path: readonly string[] }

const maxSource = 4_000
const maxParts = 50

/** Parses a message; null for any other. */
export function readMessage(data: unknown): PreviewMessage | null {
  if (typeof data !== 'object' || data === null) return null
  const { type, octavo, source } = data as { readonly type?: unknown; readonly octavo?: unknown; readonly source?: unknown }
  if (type === 'previewReady') return { kind: 'ready', isConnected: octavo === true }
  if (type !== 'octavoField' || typeof source !== 'string' || source.length > maxSource) return null
  const values = new URLSearchParams(source)
  const path = (values.get('path') ?? '').split('.')
  if (path.length > maxParts || path.some((part) => !/^\w+$/.test(part))) return null
  return { kind: 'field', documentId: values.get('documentId') ?? '', locale: values.get('locale'), path }
}

/** The path of a field in the form; null: the field of another document or language. */
export function fieldOf(
  form: Pick<DocumentForm, 'locale' | 'saver' | 'store'>,
  message: PreviewMessage & { kind: 'field' },
): string | null {
  const { documentId, locale, path } = message
  if (documentId !== form.saver.state.documentId) return null
  if (locale !== null && form.locale !== null && locale !== form.locale) return null
  return placePath(form.store.get(''), path, { keyOfName: () => undefined })
}
