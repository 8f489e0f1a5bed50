// The byte order mark that editors on Windows put at the beginning of a file: it belongs to the encoding, not to the text.

/** A text without the mark. */
export const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)
