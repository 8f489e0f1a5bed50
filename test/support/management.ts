// Requests to the management port of a service, whose address is in its log.
import { type RequestOptions, requestAt, type TestResponse } from './serve.js'

/** Settings of a service with a separate management port. */
export const managed = { management: { port: 0 } } as const

/** The origin of the management port that these lines of a log name; null: none does. */
export function managementOrigin(log: readonly string[]): string | null {
  const line = log.find((each) => each.includes('the management port listens'))
  return line === undefined ? null : `http://127.0.0.1:${(JSON.parse(line) as { readonly port: number }).port}`
}

/** Sends a request to the management port. */
export function requestManagement(
  { log }: { readonly log: readonly string[] },
  path: string,
  asked?: RequestOptions,
): Promise<TestResponse> {
  const origin = managementOrigin(log)
  if (origin === null) throw new Error('the log names no management port')
  return requestAt(origin, path, asked)
}

/** A value of a metric, with its labels. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Reads the values in the text of `/metrics`. */
export const samplesOf = (text: string): readonly Sample[] =>
  [...text.matchAll(/^([a-z0-9_:]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => ({
    name: name!,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label!, text!])),
    value: Number(value),
  }))

/** Scrapes a service. */
export const scrape = async (served: { readonly log: readonly string[] }): Promise<readonly Sample[]> =>
  samplesOf((await requestManagement(served, '/metrics')).text)

/** The sum of a metric's values with these labels; null: there is none. */
export function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number | null {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0)
}
