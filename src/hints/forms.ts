// Uploads and sign-in: fields under other names than the service reads.
import { isObject } from '../query/rest/parameters.js'
import type { Hint } from './exchange.js'
import { listed, quoted } from './sentences.js'

/** 400 of an upload without files. */
export const missingFiles: Hint = ({ error, headers, config }) => {
  if (error?.situation?.kind !== 'files') return null
  const { fields } = error.situation
  if (fields.length > 0)
    return `The files are in the field ${listed(fields.map(quoted))}. The field for files is "files": form.append('files', file)`
  if (!(headers['content-type'] ?? '').startsWith('multipart/form-data'))
    return `Files are uploaded as a form (multipart/form-data) with a field "files", not as ${headers['content-type'] ?? 'a body without Content-Type'}: curl -F files=@picture.jpg …${config.rest.prefix}/upload`
  return `The form has no file in its field "files": form.append('files', file). A text in that field is not a file.`
}

/** 400 of sign-in and registration. */
export const wrongSignIn: Hint = ({ error, asked, path, config }) => {
  const route = path.slice(config.rest.prefix.length)
  const value = asked?.body?.value
  if (error?.status !== 400 || !route.startsWith('/auth/') || !isObject(value)) return null
  if (isObject(value.data)) return 'Bodies below /auth have no data around them: { "identifier": "…", "password": "…" }'
  if (route !== '/auth/local' || value.identifier !== undefined) return null
  const given = ['email', 'username', 'user', 'login', 'name'].find((name) => value[name] !== undefined)
  return `The user name or e-mail address is sent as "identifier"${given === undefined ? '' : `, not as ${quoted(given)}`}: { "identifier": "…", "password": "…" }`
}
