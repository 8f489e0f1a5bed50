// The password of a command: given, read from standard input, or generated.
import { randomBytes } from 'node:crypto'

/** Returns the given password, the first line of standard input for `-`, or a generated one. */
export async function readPassword(given: string | undefined): Promise<{ readonly password: string; readonly made: boolean }> {
  if (given === undefined) return { password: randomBytes(15).toString('base64url'), made: true }
  if (given !== '-') return { password: given, made: false }
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return { password: text.split(/\r?\n/)[0]!, made: false }
}
