// The English catalog.
import { editor } from './en/editor.js'
import { errors } from './en/errors.js'
import { fields } from './en/fields.js'
import { list } from './en/list.js'
import { parts } from './en/parts.js'
import { shell } from './en/shell.js'

export const en = { parts, shell, list, editor, fields, errors }
