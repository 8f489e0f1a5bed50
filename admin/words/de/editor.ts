// German texts: editor.
import type { editor as en } from '../en/editor.js'

export const editor = {} satisfies typeof en
