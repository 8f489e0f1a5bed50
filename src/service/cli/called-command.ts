// The command as typed, and explanations of invalid words.
import type { Command } from 'commander'

let called = 'start <folder>'

/** Records the command about to run, with its required arguments and the project folder. */
export function noteCalled(command: Command): void {
  const names: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name())
  const words = command.registeredArguments.filter(({ required }) => required).map((argument) => `<${argument.name()}>`)
  called = [...names, ...words, '<folder>'].join(' ')
}

/** The recorded command, such as `roles list <folder>`; by default `start <folder>`. */
export const calledCommand = (): string => called

/** Turns an error of the command line into one line with the remedy; returns other text unchanged. */
export function explainWords(program: Command, words: readonly string[], text: string): string {
  if (!text.startsWith('error: ')) return text
  const complaint = text.slice('error: '.length).trim().replace(/\n\(/, ' (')
  return `octavo: ${complaint}${getRemedy(findCommand(program, words), complaint)}\n`
}

/** The innermost command in `words`. */
function findCommand(program: Command, words: readonly string[]): Command {
  const [word, ...rest] = words
  const next = program.commands.find((command) => command.name() === word || command.aliases().includes(word ?? ''))
  return next === undefined ? program : findCommand(next, rest)
}

function getRemedy(command: Command, complaint: string): string {
  const names: string[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name())
  const name = names.join(' ')
  if (/^unknown option '(?:-p|--port)'/.test(complaint)) return `. The variable PORT sets the port: PORT=1400 npx ${name}`
  if (/^unknown option '(?:-h|--host)'/.test(complaint)) return `. The variable HOST sets the address: HOST=127.0.0.1 npx ${name}`
  if (complaint.endsWith('?)')) return ''
  if (complaint.startsWith('missing required argument')) return `. Usage: npx ${name} ${command.usage()}`
  return `. See npx ${name} --help`
}
