// The order of the files of tests: those that take longest begin first, so that none of them runs alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of more than half a minute, in the order in which they begin: those that take longest first, with those that mostly wait between them. */
const longest = [
  ...[
    'servers/kill-model-kinds',
    'faults/kill-model-kinds',
    'live-model/recorded-changes',
    'faults/kill',
    'servers/kill',
    'servers/model-work',
    'servers/model-work-ends',
    'faults/kill-model-change',
    'faults/database-files',
    'spec/event-stream',
    'start/start',
    'servers/archives',
    'golden/replay-mysql',
    'instances/several',
    'instances/processes',
  ],
  ...['golden/replay-postgres', 'servers/faults', 'faults/log', 'account/commands', 'attacks/refusals', 'golden/replay'],
  ...['attacks/long-texts', 'servers/doctor', 'archive/kill', 'documents/concurrency', 'start/absent', 'spec/schedules'],
  ...['engines/galera', 'engines/patroni', 'spec/schedule-kills', 'faults/webhooks', 'faults/kill-uploads', 'spec/webhooks'],
].map((name) => `/test/${name}.test.ts`)

/** The place of a file among the longest; those that are not listed come after all of them. */
function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((end) => moduleId.endsWith(end))
  return place === -1 ? longest.length : place
}

/** Other files are in the order of vitest: by the time they took before, or by size where that is not known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other))
  }
}
