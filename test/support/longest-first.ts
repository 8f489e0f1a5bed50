// The order of the files of tests: those that take longest begin first, so that none of them runs alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take more than half a minute, in starting order: the longest first, with mostly idle ones in between. */
const longest = [
  ...['servers/kill', 'servers/kill-model-kinds', 'engines/galera', 'faults/kill', 'live-model/recorded-changes', 'deploy/image'],
  ...['faults/kill-model-change', 'golden/replay-mysql', 'servers/model-work', 'servers/model-work-ends', 'faults/database-files'],
  ...['faults/webhooks', 'attacks/slow', 'instances/several', 'servers/faults', 'instances/processes', 'golden/replay-postgres'],
  ...['postgres/unusable-commit-log', 'attacks/writes', 'live-model/random-changes', 'documents/concurrency', 'archive/kill'],
  ...['faults/kill-uploads', 'start/init', 'attacks/long-texts', 'account/commands', 'attacks/scopes', 'start/absent', 'servers/doctor'],
  ...['servers/archives', 'live-model/undone-changes', 'attacks/refusals', 'faults/disk', 'start/dev', 'faults/log', 'engines/patroni'],
  ...['spec/event-stream', 'spec/schedules', 'spec/schedule-kills', 'spec/webhooks', 'golden/replay', 'start/start'],
].map((name) => `/test/${name}.test.ts`)

/** The index of a file among the longest; other files come after all of them. */
function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((end) => moduleId.endsWith(end))
  return index === -1 ? longest.length : index
}

/** Files that share a process come last, project by project: a process serves the files of one project, as long as they follow each other. */
const shared = ['slowest', 'spec', 'api', 'start', 'fast']
const group = ({ project }: TestSpecification): number => shared.indexOf(project.name)

/** Other files are in the order of vitest: by the time they took before, or by size where that is not known. */
export class LongestFirst extends BaseSequencer {
  /** Deals the files out in their order, for parts that take about the same time. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard!
    const inOrder = files.sort((one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1))
    return inOrder.filter((_, at) => at % count === index - 1)
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => group(one) - group(other) || rank(one) - rank(other))
  }
}
