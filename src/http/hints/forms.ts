// Uploads and sign-in: fields under other names than the service reads.
import { isObject } from '../../query/rest/parameters.js'
import type { Hint } from './exchange.js'
import { didYouMean, listed, quoted } from './sentences.js'

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

/** 400 of a form that cannot be read: its boundary is missing, or `fileInfo` is not JSON. */
export const malformedForm: Hint = ({ error, headers, path, config }) => {
  const type = headers['content-type'] ?? ''
  if (error?.status !== 400 || !type.startsWith('multipart/form-data')) return null
  if (!type.includes('boundary='))
    return 'The header Content-Type has no boundary. Leave it out: fetch, axios and curl -F write it themselves for a form.'
  const { errors } = (error.details ?? {}) as { readonly errors?: readonly { readonly path: readonly string[] }[] }
  return path === `${config.rest.prefix}/upload` && errors?.[0]?.path[0] === 'fileInfo'
    ? 'fileInfo is JSON: { "name": "…", "alternativeText": "…", "caption": "…" }'
    : null
}

/** 400 of an upload that names what the file belongs to. */
export const wrongLink: Hint = ({ error, model, path, config }) => {
  if (error?.status !== 400 || path !== `${config.rest.prefix}/upload`) return null
  const [, uid, field = ''] = /^(\S+) has no media attribute (.*)$/s.exec(error.message) ?? []
  if (uid === undefined)
    return error.message === 'No entry with this refId' ? 'refId is the documentId, or the row id, of a document of the type in ref.' : null
  const shape = model.types.get(uid) ?? model.components.get(uid)
  if (shape === undefined) return `ref is the uid of a type or component.${didYouMean(`api::${uid}.${uid}`, model.types.keys())}`
  const media = [...shape.attributes.values()].filter(({ kind }) => kind === 'media').map(({ name }) => name)
  return `field is a media attribute of ${uid}.${didYouMean(field, media)} It has ${listed(media)}.`
}

/** 400 of a user that is written as if it were a document. */
export const wrongUser: Hint = ({ error, asked, path, config }) => {
  const value = asked?.body?.value
  if (error?.status !== 400 || !path.startsWith(`${config.rest.prefix}/users`) || !isObject(value)) return null
  if (isObject(value.data)) return 'Bodies of users have no data around them: { "username": "…", "email": "…", "password": "…", "role": 1 }'
  return value.role === undefined && error.message.includes('role is a required field')
    ? `role is the id of a role: "role": 1. GET ${config.rest.prefix}/users-permissions/roles lists them.`
    : null
}

/** 400 of sign-in by another service. */
export const disabledProvider: Hint = ({ error }) =>
  error?.status === 400 && error.message === 'This provider is disabled'
    ? 'auth.providers in octavo.config enables providers (docs/guide/configuration.md).'
    : null

/** 400 of sign-in and registration. */
export const wrongSignIn: Hint = ({ error, asked, path, config }) => {
  const route = path.slice(config.rest.prefix.length)
  const value = asked?.body?.value
  if (error?.status !== 400 || !route.startsWith('/auth/') || !isObject(value)) return null
  if (isObject(value.data)) return 'Bodies below /auth have no data around them: { "identifier": "…", "password": "…" }'
  if (route === '/auth/forgot-password' && value.email === undefined) return 'The address is sent as "email": { "email": "…" }'
  if (route !== '/auth/local' || value.identifier !== undefined) return null
  const given = ['email', 'username', 'user', 'login', 'name'].find((name) => value[name] !== undefined)
  return `The user name or e-mail address is sent as "identifier"${given === undefined ? '' : `, not as ${quoted(given)}`}: { "identifier": "…", "password": "…" }`
}
