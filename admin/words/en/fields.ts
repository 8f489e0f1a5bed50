// English texts: fields.

export const fields = {}
