// Document ids in Strapi's format, which clients may check: a letter and 23 letters or digits.
import { customAlphabet } from 'nanoid'

const letters = 'abcdefghijklmnopqrstuvwxyz'
const first = customAlphabet(letters, 1)
const others = customAlphabet(`${letters}0123456789`, 23)

/** Generates a documentId with 124 random bits from the system's secure source. */
export const newDocumentId = (): string => first() + others()
