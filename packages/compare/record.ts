// Writes the requests of a run to a file for `--requests`, each once, with the caller's name in place of credentials.
import { closeSync, openSync, writeSync } from 'node:fs'
import { withoutSecrets } from './callers.js'
import { type ComparedRequest, isRead } from './request.js'

/** Headers that change a response and are no credentials. */
const recordedHeaders = ['accept-language', 'strapi-response-format', 'strapi-encode-source-maps'] as const

/** Records requests. */
export interface RequestRecorder {
  /** Adds a request of a caller, unless it is known, writes, or has a secret in its path. */
  add(request: ComparedRequest, caller: string): void
  close(): void
  /** The number of requests in the file. */
  readonly size: number
}

/** Opens the file, which only the user may read, and empties it. @throws an error of the system */
export function openRecorder(file: string, most: number): RequestRecorder {
  const descriptor = openSync(file, 'w', 0o600)
  const known = new Set<string>()
  return {
    get size() {
      return known.size
    },
    add(request, caller) {
      const { method, path } = request
      if (!isRead(request) || withoutSecrets(path) !== path || known.size >= most) return
      const headers = Object.fromEntries(
        recordedHeaders.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
      )
      const line = JSON.stringify({ method, path, as: caller, ...(Object.keys(headers).length === 0 ? {} : { headers }) })
      if (known.has(line)) return
      known.add(line)
      writeSync(descriptor, `${line}\n`)
    },
    close: () => closeSync(descriptor),
  }
}

/** Returns the names of callers by their Authorization headers; those that are not known get a number. */
export function namesOf(known: ReadonlyMap<string, string>, most: number): (authorization: string | undefined) => string {
  const names = new Map(known)
  let unknown = 0
  return (authorization) => {
    if (authorization === undefined) return 'public'
    const name = names.get(authorization)
    if (name !== undefined) return name
    if (names.size >= most) return 'others'
    unknown += 1
    names.set(authorization, `caller-${unknown}`)
    return `caller-${unknown}`
  }
}
