// English texts: editor.

export const editor = {}
