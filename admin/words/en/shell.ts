// English texts: shell.

export const shell = {}
