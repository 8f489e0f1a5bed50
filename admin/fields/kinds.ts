// Kinds of attributes: the editor of each, and its frame.
import type { ComponentType } from 'react'
import type { FormAttribute } from '../form/values.js'
import { BooleanField } from './boolean.js'
import { ComponentField } from './component.js'
import { DateField, DateTimeField, TimeField } from './dates.js'
import type { FieldProps } from './document.js'
import { Entries } from './entries.js'
import { EnumerationField } from './enumeration.js'
import { JsonField } from './json.js'
import { MediaField } from './media.js'
import { NumberField } from './number.js'
import { PasswordField } from './password.js'
import { RelationField } from './relation.js'
import { BlocksField, RichTextField } from './rich-text.js'
import { EmailField, StringField, TextField } from './text.js'
import { UidField } from './uid.js'

/** A kind of attributes. */
export interface Kind {
  readonly Field: ComponentType<FieldProps>
  /** Several controls under one label. */
  readonly isGroup?: boolean
  /** Content in the language of the document. */
  readonly hasLanguage?: boolean
}

const kinds: Readonly<Record<string, Kind>> = {
  string: { Field: StringField, hasLanguage: true },
  text: { Field: TextField, hasLanguage: true },
  richtext: { Field: RichTextField, hasLanguage: true, isGroup: true },
  blocks: { Field: BlocksField, hasLanguage: true },
  email: { Field: EmailField },
  password: { Field: PasswordField },
  uid: { Field: UidField },
  enumeration: { Field: EnumerationField },
  integer: { Field: NumberField },
  biginteger: { Field: NumberField },
  float: { Field: NumberField },
  decimal: { Field: NumberField },
  boolean: { Field: BooleanField },
  date: { Field: DateField },
  time: { Field: TimeField },
  datetime: { Field: DateTimeField },
  timestamp: { Field: DateTimeField },
  json: { Field: JsonField, isGroup: true },
  media: { Field: MediaField, isGroup: true },
  relation: { Field: RelationField, isGroup: true },
  component: { Field: ComponentField, isGroup: true },
  dynamiczone: { Field: Entries, isGroup: true },
}

/** The kind of an attribute. Custom fields have that of their values; unknown kinds are edited as JSON. */
export const kindFor = ({ type }: FormAttribute): Kind => kinds[type] ?? kinds.json!
