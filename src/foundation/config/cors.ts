// CORS settings: allowed origins, and the headers their pages may send.
import * as z from 'zod'
import { originProblem } from './checks.js'

/** `*` for any origin, or a list of origins. */
const origins = () =>
  z.custom<'*' | readonly string[]>().superRefine((value: unknown, context) => {
    if (value === '*') return
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
    const problem = isList ? value.map(originProblem).find((found) => found !== null) : 'must be "*" or a list of origins'
    if (problem !== undefined && problem !== null) context.addIssue({ code: 'custom', message: problem })
  })

/** Strapi's four headers, and the further ones of this API. */
const knownHeaders = [
  ...['Content-Type', 'Authorization', 'Origin', 'Accept'],
  ...['Strapi-Response-Format', 'Strapi-Encode-Source-Maps', 'Idempotency-Key'],
]

/** The section `cors` of the configuration. */
export const corsSettings = () =>
  z.strictObject({
    origins: origins().default('*'),
    /** Headers that pages of other origins may send. */
    headers: z.array(z.string().regex(/^[\w-]+$/, 'must be the name of a header')).default(knownHeaders),
  })
