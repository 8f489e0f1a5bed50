// Classifies the statements of a model change, for those who count them: in the service's process on SQLite, and between the
// service and its server elsewhere.

/** The statement that records a change, and thereby applies it, or begins it if its steps are committed one by one. */
export const recording = /^\s*insert into octavo_model_history/i

/** A statement that commits. */
export const committing = /^\s*commit/i

const reading = /^\s*(?:select|show|explain|pragma (?:data_version|table_\w+|index_\w+|foreign_key_\w+|wal_checkpoint\(noop\)))\b/i
const leaving = /\bfor (?:update|share)\b|lock\w*\(|\b(?:setval|nextval)\(/i

/** True if a statement leaves no trace: a process that dies after it is the same as one that dies before it. */
export const isReading = (text) => reading.test(text) && !leaving.test(text)
