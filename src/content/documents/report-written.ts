// Reports a write of a document that was committed.
import type { WriteContext, WriteOperation } from './operation.js'

/** Counts a write, and notes it in the audit log. What administrators do is noted with their activity. */
export function reportWritten({ metrics, audit }: Pick<WriteContext, 'metrics' | 'audit'>, operation: WriteOperation, id: string): void {
  const { action, write, locale } = operation
  metrics?.documentWritten(write.type.uid, action)
  if (audit === null || write.caller?.kind === 'administrator') return
  audit.note({
    actor: write.caller ?? { kind: 'project' },
    action,
    type: write.type.uid,
    id,
    locales: locale === null ? undefined : [locale],
  })
}
