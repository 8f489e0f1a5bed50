// German texts: list.
import type { list as en } from '../en/list.js'

export const list = {} satisfies typeof en
