// Prints a list below a title, cut where it is long.
import { print } from './project.js'

/** Prints nothing for an empty list. `most`: the lines that are printed; the number of the others follows. */
export function printList(most: number, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  print(title)
  for (const line of lines.slice(0, most)) print(`  ${line}`)
  if (lines.length > most) print(`  … and ${lines.length - most} more`)
}
