// German texts: errors by the codes of the service.
import type { errors as en } from '../en/errors.js'
import { formatOf } from '../format.js'

const { number, plural, list } = formatOf('de')

const of = (value: unknown): number => (typeof value === 'number' ? value : Number(value ?? 0))
const names = (value: unknown): string => list(Array.isArray(value) ? value.map(String) : [])

const forms: Readonly<Record<string, string>> = {
  ...{
    email: 'eine E-Mail-Adresse',
    date: 'ein Datum',
    time: 'eine Uhrzeit',
    datetime: 'Datum und Uhrzeit',
    timestamp: 'Datum und Uhrzeit',
  },
  ...{ integer: 'eine ganze Zahl', biginteger: 'eine ganze Zahl', number: 'eine Zahl', float: 'eine Zahl', decimal: 'eine Zahl' },
  ...{ string: 'einen Text', boolean: 'Ja oder Nein', array: 'eine Liste', object: 'ein Objekt', json: 'JSON', link: 'einen Link' },
  uid: 'einen Wert aus Buchstaben, Ziffern, Bindestrichen, Punkten, Unterstrichen und Tilden',
}

const expected = (form: unknown): string => `Bitte geben Sie ${forms[String(form)] ?? String(form ?? 'einen anderen Wert')} ein.`

export const errors = {
  required: () => 'Dieses Feld ist erforderlich.',
  type: (_label, params) => expected(params.expected),
  format: (_label, params) => expected(params.expected),
  enum: (_label, { allowed }) => `Bitte wählen Sie einen der Werte ${names(allowed)}.`,
  minLength: (_label, { min, actual }) =>
    actual === undefined
      ? `Bitte geben Sie mindestens ${number(of(min))} Zeichen ein.`
      : `Mindestens ${number(of(min))} Zeichen: ${plural(of(min) - of(actual), { one: '1 fehlt', other: '{} fehlen' })}.`,
  maxLength: (_label, { max, actual }) =>
    actual === undefined
      ? `Bitte geben Sie höchstens ${number(of(max))} Zeichen ein.`
      : `Höchstens ${number(of(max))} Zeichen: ${number(of(actual) - of(max))} zu viel.`,
  min: (_label, { min }) => `Der Wert muss mindestens ${number(of(min))} sein.`,
  max: (_label, { max }) => `Der Wert darf höchstens ${number(of(max))} sein.`,
  minItems: (_label, { min }) => `Mindestens ${plural(of(min), { one: '1 Eintrag ist', other: '{} Einträge sind' })} nötig.`,
  maxItems: (_label, { max }) => `Höchstens ${plural(of(max), { one: '1 Eintrag ist', other: '{} Einträge sind' })} erlaubt.`,
  pattern: (_label, { example }) =>
    `Der Text hat nicht das erwartete Format.${example === undefined ? '' : ` Beispiel: „${String(example)}“.`}`,
  unique: (label) => `Ein anderes Dokument hat bereits diesen Wert für ${label}.`,
  notFound: () => 'Das verknüpfte Dokument oder die Datei gibt es nicht mehr.',
  unknown: (label) => `${label} gibt es nicht mehr. Bitte laden Sie die Seite neu.`,
  forbidden: (label) => `Sie dürfen ${label} nicht ändern.`,
  unsupported: (label) => `${label} kann hier nicht geändert werden.`,
  conflict: (label) => `${label} wurde an zwei Stellen gleichzeitig geändert.`,
  duplicate: () => 'Dieser Wert kommt zweimal vor.',
  cannotSort: (label) => `Listen können nicht nach ${label} sortiert werden.`,
  cursor: () => 'Die Liste hat sich geändert. Bitte beginnen Sie wieder auf der ersten Seite.',
  tooMany: (_label, { max }) => `Nicht mehr als ${number(of(max))} auf einmal.`,
} satisfies typeof en
