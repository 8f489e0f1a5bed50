// German texts: shell.
import type { shell as en } from '../en/shell.js'

export const shell = {} satisfies typeof en
