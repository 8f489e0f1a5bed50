// Questions to the person at the terminal. Secrets are not shown while they are typed.
import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../foundation/errors/errors.js'

/** Whether there is someone to ask. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks a question on standard error; anything but `yes` or `y` means no. @throws ConfigError if the person breaks off */
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

const [enter, newLine, interrupt, end, backspace, erase] = ['\r', '\n', '\u0003', '\u0004', '\b', '\u007f']

/** Asks for a secret. @throws ConfigError if the person breaks off */
export function askSecret(question: string): Promise<string> {
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
