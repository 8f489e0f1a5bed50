// Texts of others on a terminal: what would move its cursor, change its title or turn the direction of writing is shown as an escape.

/** Control characters, and those that change the direction of what follows. */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A text without characters that a terminal would act on. */
export const terminalText = (text: string): string => text.replace(controls, escaped)

/** The same of a text with lines, which stay lines. */
export const terminalLines = (text: string): string =>
  text.replace(controls, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))
