// Output of these programs: sentences and checks. The exit code is 1 once a check fails.

/** Lines of details under what does not hold, and the characters of each. */
const [mostLines, mostCharacters] = [40, 400]

/** @param {string} line */
export function say(line) {
  console.log(line)
}

/**
 * @param {string} what
 * @param {boolean} holds
 * @param {readonly string[]} [details]
 */
export function check(what, holds, details = []) {
  say(`${holds ? 'pass' : 'FAIL'}  ${what}`)
  if (holds) return
  process.exitCode = 1
  for (const line of details.slice(0, mostLines)) say(`      ${line.slice(0, mostCharacters)}`)
}
