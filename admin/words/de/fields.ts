// German texts: fields.
import type { fields as en } from '../en/fields.js'

export const fields = {} satisfies typeof en
