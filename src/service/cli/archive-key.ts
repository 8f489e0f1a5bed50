// The key of an encrypted archive: from the command line, the environment, or the person at the terminal.
import { ConfigError } from '../../foundation/errors/errors.js'
import { askSecret, isInteractive } from './prompt.js'

/** The variable with the key, which, unlike -k, no list of processes shows. */
const variable = 'OCTAVO_ARCHIVE_KEY'

/** Returns the key of a new archive, asked for twice. @throws ConfigError without one */
export async function newArchiveKey(given: string | undefined): Promise<string> {
  const key = given ?? process.env[variable]
  if (key !== undefined && key !== '') return key
  if (!isInteractive())
    throw new ConfigError(`An encrypted archive needs a key: set ${variable}, or pass -k <key>; --no-encrypt writes a plain one`)
  const typed = await askSecret('Key of the archive: ')
  if (typed === '') throw new ConfigError('The key is empty')
  if ((await askSecret('The same again: ')) !== typed) throw new ConfigError('The keys differ')
  return typed
}

/** Returns the key of an archive. @throws ConfigError without one */
export async function archiveKey(given: string | undefined): Promise<string> {
  const key = given ?? process.env[variable]
  if (key !== undefined && key !== '') return key
  if (!isInteractive()) throw new ConfigError(`The archive is encrypted: set ${variable} to its key, or pass -k <key>`)
  return askSecret('Key of the archive: ')
}
