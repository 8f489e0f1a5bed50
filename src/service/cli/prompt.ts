// Questions in the terminal, and secrets: typed, from standard input or the environment, or generated.

import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../foundation/errors/errors.js'

export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks a question on standard error; only `yes` and `y` confirm. @throws ConfigError if the user cancels */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const given = new AbortController()
  terminal.on('SIGINT', () => given.abort())
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (yes/no) `, { signal: given.signal })).trim())
  } catch {
    throw new ConfigError('Interrupted; nothing was changed')
  } finally {
    terminal.close()
  }
}

const enter = '\r'
const newLine = '\n'
const interrupt = '\u0003'
const end = '\u0004'
const backspace = '\b'
const erase = '\u007f'

/** @throws ConfigError if the user cancels */
function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  return new Promise<string>((resolve, reject) => {
    let typed: string[] = []
    const finish = (settle: () => void): void => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      settle()
    }
    const take = (text: string): void => {
      for (const character of text) {
        const isEntered = character === enter || character === newLine
        if (isEntered || character === interrupt || character === end) {
          finish(() => (isEntered ? resolve(typed.join('')) : reject(new ConfigError('Interrupted'))))
          return
        }
        if (character === backspace || character === erase) typed = typed.slice(0, -1)
        else typed.push(character)
      }
    }
    stdin.on('data', take)
  })
}

/** The variable with the key. Unlike -k, it is not shown in process lists. */
const variable = 'OCTAVO_ARCHIVE_KEY'

/** Returns the key of a new archive, which is typed twice. @throws ConfigError without a key */
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

/** @throws ConfigError without a key */
export async function archiveKey(given: string | undefined): Promise<string> {
  const key = given ?? process.env[variable]
  if (key !== undefined && key !== '') return key
  if (!isInteractive()) throw new ConfigError(`The archive is encrypted: set ${variable} to its key, or pass -k <key>`)
  return askSecret('Key of the archive: ')
}

/** Returns the given password, the first line of standard input for `-`, or a generated one. */
export async function readPassword(given: string | undefined): Promise<{ readonly password: string; readonly made: boolean }> {
  if (given === undefined) return { password: randomBytes(15).toString('base64url'), made: true }
  if (given !== '-') return { password: given, made: false }
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return { password: text.split(/\r?\n/)[0]!, made: false }
}
