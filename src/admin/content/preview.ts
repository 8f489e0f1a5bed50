// The address at which an administrator previews a document, with values that they may read.

import { toResponseError } from '../../content/documents/code/policies.js'
import type { Config } from '../../foundation/config/config.js'
import {
  fillTemplate,
  isOwnPath,
  type PreviewCall,
  type PreviewConfig,
  type PreviewFunction,
  previewUrlOf,
} from '../../foundation/config/preview.js'
import { notFound } from '../../foundation/errors/errors.js'
import { runCode } from '../../foundation/runtime/project-code.js'
import { publicPath } from '../../identity/accounts/email.js'
import { type ContentAccess, type DocumentName, findVersion, parseLocale, readableType, type VersionData } from './content-access.js'

/** The address of a preview. */
interface PreviewAddress {
  /** Absolute, or a path of this service; null: the document has none. */
  readonly url: string | null
  /** The attribute that the address lacks a value of. */
  readonly missing: string | null
  /** The origins of pages that may talk to the editor. */
  readonly origins: readonly string[]
}

/** The version of a document to preview. */
interface PreviewedVersion extends DocumentName {
  readonly status: 'draft' | 'published'
}

/** @throws ApiError 404 for a document that the administrator may not read, or a type without preview; Error for a fault of the function */
export async function findPreview(
  access: ContentAccess,
  { admin: { preview }, publicUrl, limits }: Pick<Config, 'admin' | 'publicUrl' | 'limits'>,
  version: PreviewedVersion,
): Promise<PreviewAddress> {
  const { type, status } = version
  const given = previewUrlOf(preview, type.uid, type)
  if (preview === null || given === null) throw notFound(`There is no preview of ${type.uid}`)
  const document = await findVersion(access, version, { status })
  if (document === null) throw notFound()
  const { origins } = preview
  const found = (url: string | null, missing: string | null = null): PreviewAddress => ({ url, missing, origins })
  if (typeof given === 'function') {
    const url = await callFunction(given, access, limits.hookTimeout, version, document)
    return found(url === null ? null : checkedAddress(url, preview, publicUrl))
  }
  const values: Readonly<Record<string, unknown>> = { ...document, ...namesOf(version), locale: version.locale ?? access.defaultLocale }
  let missing: string | null = null
  const url = fillTemplate(given, (name) => {
    const value = values[name] ?? null
    if (value === null || value === '') missing ??= name
    return String(value)
  })
  return missing === null ? found(checkedAddress(url, preview, publicUrl)) : found(null, missing)
}

const namesOf = ({ type, documentId, locale, status }: PreviewedVersion) => ({ type: type.uid, documentId, locale, status })

async function callFunction(
  url: PreviewFunction,
  access: ContentAccess,
  timeout: number,
  version: PreviewedVersion,
  document: VersionData,
): Promise<string | null> {
  const name = `the preview of ${version.type.uid}`
  const findOne: PreviewCall['findOne'] = async (uid, { documentId, locale, status = 'draft', fields, populate }) => {
    const type = readableType(access, uid)
    const parameters = { status, ...(fields === undefined ? {} : { fields }), ...(populate === undefined ? {} : { populate }) }
    return findVersion(access, { type, documentId, locale: await parseLocale(access, type, locale ?? undefined) }, parameters)
  }
  try {
    const call = { ...namesOf(version), document, findOne }
    const found: unknown = await runCode({ name, requestId: access.requestId }, timeout, () => url(call))
    if (found === undefined || found === null || typeof found === 'string') return found || null
    throw new TypeError(`it returned a value of the type ${typeof found} instead of an address`)
  } catch (error) {
    throw toResponseError(name, error)
  }
}

/** @throws Error for an address outside of the configured origins */
function checkedAddress(address: string, { origins, isOwn }: PreviewConfig, publicUrl: string): string {
  if (isOwn && isOwnPath(address)) return publicPath(publicUrl) + address
  const parsed = URL.canParse(address) ? new URL(address) : null
  if (parsed !== null && origins.includes(parsed.origin) && parsed.username === '' && parsed.password === '') return parsed.href
  throw new Error(`The preview ${parsed === null ? 'has no address' : `is at ${parsed.origin}`}, which admin.preview.origins does not have`)
}
