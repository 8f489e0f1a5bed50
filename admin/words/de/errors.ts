// German texts: errors.
import type { errors as en } from '../en/errors.js'

export const errors = {} satisfies typeof en
