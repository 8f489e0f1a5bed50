// The media library: files with numeric ids, and uploads. Responses have no envelope.
import type { FileFormats, FocalPoint } from '../../src/foundation/public/content/blocks.js'
import type { ContentTypeShape } from '../../src/foundation/public/content/content-types.js'
import type { CriteriaQuery, FieldsArgument, PopulateArgument, SortArgument } from '../../src/foundation/public/content/queries.js'
import type { RowIn } from '../../src/foundation/public/content/results.js'
import type { RequestOptions } from './content-types.js'
import type { Send } from './request.js'

/** What is said about a file. */
export interface FileProperties {
  readonly name?: string
  readonly alternativeText?: string | null
  readonly caption?: string | null
  readonly focalPoint?: FocalPoint | null
}

export interface FileUploadOptions extends RequestOptions {
  /** What is said about the file, or about each of several. */
  readonly info?: FileProperties | readonly FileProperties[]
  /** Links the files to a media attribute of a row: the uid of its type, its documentId or numeric id, and the attribute. */
  readonly link?: { readonly ref: string; readonly refId: number | string; readonly field: string }
}

/** What responses of the media library say besides the attributes. */
interface Signed {
  readonly isUrlSigned: boolean
}

/** A file of a project that has not been described. */
export interface UntypedFile {
  readonly id: number
  readonly documentId: string
  readonly name: string
  readonly url: string
  readonly mime: string
  readonly formats: FileFormats | null
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known of attributes that the project has added
  readonly [attribute: string]: any
}

type FileOf<T extends ContentTypeShape> = [T] extends [never] ? UntypedFile : T['fields'] & Signed
type RowOf<T extends ContentTypeShape, Selected, Given> = [T] extends [never] ? UntypedFile : RowIn<T, 'any', Selected, Given> & Signed

/** The files of the media library. */
export interface Files<T extends ContentTypeShape> {
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
  >(
    query?: [T] extends [never]
      ? Readonly<Record<string, unknown>>
      : Omit<CriteriaQuery<T, undefined, Selected, Given, Sorted>, 'status' | 'locale'> & {
          readonly start?: number
          readonly limit?: number
        },
    options?: RequestOptions,
  ): Promise<RowOf<T, Selected, Given>[]>
  findOne(id: number, options?: RequestOptions): Promise<FileOf<T>>
  /** Uploads one file or several; a blob without a name takes the one in `info`. */
  upload(files: Blob | readonly Blob[], options?: FileUploadOptions): Promise<FileOf<T>[]>
  /** Changes what is said about a file. */
  update(id: number, info: FileProperties, options?: RequestOptions): Promise<FileOf<T>>
  /** Replaces the content of a file, which keeps its URL. */
  replace(id: number, file: Blob, options?: RequestOptions & { readonly info?: FileProperties }): Promise<FileOf<T>>
  delete(id: number, options?: RequestOptions): Promise<FileOf<T>>
}

/** Puts files and what is said about each into a form. */
function formOf(files: readonly Blob[], infos: readonly (FileProperties | undefined)[], link: object = {}): FormData {
  const form = new FormData()
  for (const [index, file] of files.entries()) {
    form.append('files', file, (file as Partial<File>).name ?? infos[index]?.name ?? 'file')
    if (infos.length > 0) form.append('fileInfo', JSON.stringify(infos[index] ?? {}))
  }
  for (const [name, value] of Object.entries(link)) form.append(name, String(value))
  return form
}

export function openFiles(send: Send): Files<never> {
  const listed = <Value>(value: Value | readonly Value[] | undefined): readonly Value[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value as Value]
  const files = {
    find: (query?: object, options?: RequestOptions) => send('GET', 'upload/files', { query }, options),
    findOne: (id: number, options?: RequestOptions) => send('GET', `upload/files/${id}`, {}, options),
    upload: (given: Blob | readonly Blob[], { info, link, ...options }: FileUploadOptions = {}) =>
      send('POST', 'upload', { body: formOf(listed(given), listed(info), link) }, options),
    update: (id: number, fileInfo: FileProperties, options?: RequestOptions) =>
      send('POST', 'upload', { query: { id }, body: { fileInfo } }, options),
    replace: (id: number, file: Blob, { info, ...options }: RequestOptions & { readonly info?: FileProperties } = {}) =>
      send('POST', 'upload', { query: { id }, body: formOf([file], listed(info)) }, options),
    delete: (id: number, options?: RequestOptions) => send('DELETE', `upload/files/${id}`, {}, options),
  }
  return files as unknown as Files<never>
}
