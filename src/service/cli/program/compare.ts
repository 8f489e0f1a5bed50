// The command that compares Octavo with Strapi, with its arguments and options. Its code is loaded only when it runs.
import type { Command } from 'commander'

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description(
      'send the same requests to Strapi and to Octavo and list what differs (exit status: 0 nothing, 1 something, 2 not compared)',
    )
    .argument('<strapi-url>', 'where Strapi runs, such as http://localhost:1337')
    .argument('<octavo-url>', 'where Octavo runs')
    .option('--requests <file>', 'requests to send: a path, METHOD path, or a JSON object per line; - reads standard input')
    .option(
      '--log <file>',
      "an access log to take requests from: nginx, Apache, Strapi's log, JSON lines; .gz is unpacked; - reads standard input",
    )
    .option('--proxy <port>', 'serve as a reverse proxy in front of Strapi and compare reads in the background')
    .option('--host <address>', 'the address that --proxy listens on', '127.0.0.1')
    .option('--record <file>', 'write the requests that were compared to a file for --requests, without credentials')
    .option('--as <name=token>', 'a caller; repeat it for several; name=@file reads the token from a file, name= has none', collected)
    .option('--header <header>', '"Name: value" for every request; may be repeated', collected)
    .option('--strapi-token <token>', 'an API token or JWT for both services')
    .option('--octavo-token <token>', 'another one for Octavo')
    .option('--prefix <path>', 'the prefix of the API', '/api')
    .option(
      '--project <folder>',
      "the project, for its schemas and code; not needed if a caller may read the model from a service's API",
      '.',
    )
    .option('--ignore <path>', 'a path of JSON that may differ, such as updatedAt or data.*.views; may be repeated', collected)
    .option('--writes', 'also send POST, PUT and DELETE of --requests; both need databases of their own')
    .option('--limit <number>', 'at most this many requests', '1000')
    .option('--rate <number>', 'at most this many requests per second to each service', '20')
    .option('--concurrency <number>', 'requests at the same time', '4')
    .option('--timeout <milliseconds>', 'for one response', '30000')
    .option('--retries <number>', 'further attempts of a read that fails', '2')
    .option('--show <number>', 'examples for each cause', '3')
    .option('--json', 'print the report as JSON')
    // As with diff and grep, 1 means that something differs.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (strapi: string, octavo: string, options) => (await import('../compare.js')).compareCommand(strapi, octavo, options))
}
