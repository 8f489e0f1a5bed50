// Checks suggested defaults: whether Octavo's response becomes that of Strapi if the request says what the defaults would.
import qs from 'qs'
import type { ComparedCaller } from './callers.js'
import type { Defaults, Group } from './groups.js'
import { type Explained, isAccepted } from './judge.js'
import { type RunOptions, resultOf, type Servers, sentBy } from './run.js'

/**
 * `equal`: the responses then are the same; `sufficient`: they still differ, but for other causes; `unknown`: it could not be asked, for
 * example because the query would be too long.
 */
export type Verified = 'equal' | 'sufficient' | 'different' | 'unknown'

/** The longest path that services accept in any case, in characters. */
const longestPath = 12_000

/** Asks both for the sample of a group, Octavo with its defaults as parameters. */
export async function verify(
  { cause, defaults, sample, caller: name }: Group,
  callers: readonly ComparedCaller[],
  servers: Servers,
  options: RunOptions,
): Promise<Verified> {
  const caller = callers.find((each) => each.name === name)
  if (defaults === null || caller === undefined) return 'unknown'
  const path = withDefaults(sample.path, defaults)
  if (path.length > longestPath) return 'unknown'
  await options.pace()
  const strapi = await servers.strapi.ask(sentBy(sample, caller, 'strapi'))
  const octavo = await servers.octavo.ask(sentBy({ ...sample, path }, caller, 'octavo'))
  const result = await resultOf(sample, name, { strapi, octavo }, options)
  if (result.kind === 'failed') return 'unknown'
  if (isAccepted(result.judgement)) return 'equal'
  // With the populate in the request, what is still missing has another cause by name.
  const isSame = (one: Explained): boolean =>
    one.kind === 'cause' && [cause.name, 'populate replaced', 'query refused'].includes(one.cause.name)
  return result.judgement.explained.some(isSame) ? 'different' : 'sufficient'
}

function withDefaults(path: string, { populate, sort }: Defaults): string {
  const query = qs.stringify({ populate, sort }, { encodeValuesOnly: true })
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}
