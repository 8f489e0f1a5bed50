// The German catalog.
import { editor } from './de/editor.js'
import { errors } from './de/errors.js'
import { fields } from './de/fields.js'
import { list } from './de/list.js'
import { parts } from './de/parts.js'
import { shell } from './de/shell.js'

export const de = { parts, shell, list, editor, fields, errors }
