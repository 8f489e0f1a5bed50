// How commands are declared: rows with arguments, options and functions. The code of a command is loaded when it runs.
import { type Command, Option } from 'commander'

type Run = (...given: never[]) => Promise<void>

/** Marks an option that has to be given. */
export const required = Symbol('required')

/** An argument, such as `<token>`, or an option with its default or a function that collects its values. */
export type Parameter =
  | Option
  | readonly [
      flags: string,
      about?: string,
      more?: string | typeof required | ((value: string, before?: readonly string[]) => readonly string[]),
    ]

/** A command. `run` gives its function from the code that was loaded. */
export type Row<Code> = readonly [
  name: string,
  about: string,
  parameters: readonly Parameter[],
  run: (code: Code) => Run | Promise<Run>,
  alias?: string,
]

/** Adds the commands of a group. */
export type AddCommands = (program: Command) => void

/** Adds a command. */
export function addRow<Code>(parent: Command, load: () => Promise<Code>, [name, about, parameters, run, alias]: Row<Code>): void {
  const command = parent.command(name, { isDefault: name === 'start' }).description(about)
  for (const parameter of parameters) addParameter(command, parameter)
  if (alias !== undefined) command.alias(alias)
  command.action(async (...given) => (await run(await load()))(...(given as never[])))
}

/** Commands after one word, such as `octavo tokens create`. */
export const group =
  <Code>(word: string, about: string, load: () => Promise<Code>, rows: readonly Row<Code>[]): AddCommands =>
  (program) => {
    const parent = program.command(word).description(about)
    for (const row of rows) addRow(parent, load, row)
  }

function addParameter(command: Command, parameter: Parameter): void {
  if (parameter instanceof Option) {
    command.addOption(parameter)
    return
  }
  const [flags, about, more] = parameter
  if (!flags.startsWith('-')) command.argument(flags, about, more as string | undefined)
  else if (more === required) command.requiredOption(flags, about)
  else command.option(flags, about as string, more as string)
}

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
export const folder: Parameter = ['[folder]', 'the project', '.']
export const json: Parameter = ['--json', 'print JSON']
