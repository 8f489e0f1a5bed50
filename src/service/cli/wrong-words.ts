// Words of a command line that the command does not have, with what to write in their place.
import type { Command } from 'commander'

/** A complaint of the command line as one line that names the remedy; other errors as they are. */
export function explainWords(program: Command, words: readonly string[], text: string): string {
  if (!text.startsWith('error: ')) return text
  const complaint = text.slice('error: '.length).trim().replace(/\n\(/, ' (')
  return `octavo: ${complaint}${remedyOf(commandOf(program, words), complaint)}\n`
}

/** The command that the words name, as far as they do. */
function commandOf(program: Command, words: readonly string[]): Command {
  const [word, ...rest] = words
  const next = program.commands.find((command) => command.name() === word || command.aliases().includes(word ?? ''))
  return next === undefined ? program : commandOf(next, rest)
}

function remedyOf(command: Command, complaint: string): string {
  const names: string[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name())
  const name = names.join(' ')
  if (/^unknown option '(?:-p|--port)'/.test(complaint)) return `. The variable PORT sets the port: PORT=1400 npx ${name}`
  if (/^unknown option '(?:-h|--host)'/.test(complaint)) return `. The variable HOST sets the address: HOST=127.0.0.1 npx ${name}`
  if (complaint.endsWith('?)')) return ''
  if (complaint.startsWith('missing required argument')) return `. Usage: npx ${name} ${command.usage()}`
  return `. See npx ${name} --help`
}
