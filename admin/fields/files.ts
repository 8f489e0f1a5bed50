// Files of the media library as fields show them.
import { type Entry, type FormAttribute, textOf } from '../form/values.js'

/** Kinds of files by their media types. */
export type FileKind = 'image' | 'video' | 'audio' | 'file'

/** The kind of a file. */
export function fileKind(file: Entry): FileKind {
  const [kind = ''] = textOf(file.mime).split('/')
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'file'
}

/** Address of a small picture of a file; null: it has none. */
export function thumbnailOf(file: Entry): string | null {
  const { thumbnail, small } = (file.formats ?? {}) as Readonly<Record<string, { readonly url?: unknown } | undefined>>
  const url = thumbnail?.url ?? small?.url ?? (fileKind(file) === 'image' ? file.url : null)
  return typeof url === 'string' ? url : null
}

/** The name of a file. */
export const fileName = (file: Entry): string => textOf(file.name)

/** True for a picture without an alternative text. */
export const lacksText = (file: Entry): boolean => fileKind(file) === 'image' && textOf(file.alternativeText).trim() === ''

const groups: Readonly<Record<string, FileKind>> = { images: 'image', videos: 'video', audios: 'audio', files: 'file' }

/** Kinds of files that an attribute takes; all if it names none. */
export function allowedKinds({ allowedTypes }: FormAttribute): readonly FileKind[] {
  const named = Array.isArray(allowedTypes) ? allowedTypes.flatMap((type) => groups[String(type)] ?? []) : []
  return named.length === 0 ? ['image', 'video', 'audio', 'file'] : named
}

/** Kinds of files as `accept` of an input; undefined: all. */
export function acceptOf(kinds: readonly FileKind[]): string | undefined {
  return kinds.includes('file') ? undefined : kinds.map((kind) => `${kind}/*`).join(',')
}
