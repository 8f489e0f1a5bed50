// Passwords of a body are hashed before its transaction, in turns of callers: no other write waits for them.
import { nameOf } from './idempotency.js'
import type { WriteContext, WriteOperation } from './operation.js'

/** The hashes of passwords; of one that is there twice, both. */
export type PreparedHashes = readonly (readonly [password: string, hash: string])[]

/** Hashes the passwords that a body gives. @throws ApiError 503 if too many wait */
export async function prepareHashes({ passwords }: WriteContext, { write, passwords: given }: WriteOperation): Promise<PreparedHashes> {
  const { hash } = passwords.of(nameOf(write.caller))
  const prepared: (readonly [string, string])[] = []
  for (const password of given) prepared.push([password, await hash(password)])
  return prepared
}

/** The context of a transaction that takes each hash once, and makes those that are not prepared, such as of hooks and defaults. */
export function withHashes(context: WriteContext, prepared: PreparedHashes): WriteContext {
  if (prepared.length === 0) return context
  const left = [...prepared]
  return {
    ...context,
    hashPassword: async (password) => {
      const at = left.findIndex(([given]) => given === password)
      return at === -1 ? context.hashPassword(password) : left.splice(at, 1)[0]![1]
    },
  }
}
