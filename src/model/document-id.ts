// Ids of documents: a letter and 23 letters or digits, as Strapi's, which clients may check for.
import { customAlphabet } from 'nanoid'

const letters = 'abcdefghijklmnopqrstuvwxyz'
const first = customAlphabet(letters, 1)
const others = customAlphabet(`${letters}0123456789`, 23)

/** A new documentId: 124 random bits from the system's source, so that nobody guesses one. */
export const newDocumentId = (): string => first() + others()
