// Runs `octavo compare` between two services and reads its report.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { octavo, project } from '../start/command.js'

/** A report as `--json` prints it. */
export interface Report {
  readonly status: number | null
  readonly err: string
  readonly same: number
  readonly documented: number
  readonly different: number
  readonly failed: Readonly<Record<string, number>>
  readonly leftOut: Readonly<Record<string, number>>
  readonly times: { readonly strapi: { readonly median: number }; readonly octavo: { readonly median: number } }
  readonly groups: readonly {
    readonly cause: string
    readonly subject: string
    readonly advice: string
    readonly exposes: boolean
    readonly requests: number
    readonly config?: unknown
    readonly verified?: string
    readonly files: readonly string[]
    readonly examples: readonly {
      readonly method: string
      readonly path: string
      readonly as: string
      readonly differences: readonly { readonly path: string; readonly count: number; readonly strapi: string; readonly octavo: string }[]
    }[]
  }[]
  readonly documentedDifferences: readonly { readonly section: string; readonly row: string; readonly requests: number }[]
}

/** Runs the command, as fast as the services allow. */
export const compare = (strapi: string, ours: string, ...words: string[]) => octavo(['compare', strapi, ours, '--rate', '10000', ...words])

/** Compares these requests, lines of a file. */
export async function report(strapi: string, ours: string, requests: readonly (string | object)[], ...words: string[]): Promise<Report> {
  const { out, err, status } = await compare(strapi, ours, '--json', '--requests', fileOf(requests), ...words)
  if (out === '') throw new Error(err)
  return { ...(JSON.parse(out) as Report), err, status }
}

/** A file with these lines, in a temporary folder. */
export function fileOf(lines: readonly (string | object)[], name = 'requests.txt'): string {
  const file = join(project({}), name)
  writeFileSync(file, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return file
}
