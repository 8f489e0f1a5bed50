// The command that this process runs, for sentences that say how to call it.
import type { Command } from 'commander'

let called = 'start <folder>'

/** Notes the command that is about to run, with its required arguments and the folder of the project. */
export function noteCalled(command: Command): void {
  const names: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name())
  const words = command.registeredArguments.filter(({ required }) => required).map((argument) => `<${argument.name()}>`)
  called = [...names, ...words, '<folder>'].join(' ')
}

/** The words of that command, such as `roles list <folder>`; `start <folder>` in a process that was given no command. */
export const calledCommand = (): string => called
