// Changes by commands: operations of the administration, with entries in the activity log.
import type * as z from 'zod'
import { commandLine } from '../../admin/activity.js'
import type { AuditedAction, AuditedContext, Done, InputOf, Operation } from '../../admin/manage/operation.js'
import type { Project } from './project.js'

/** The context of a command, which has full access. */
export const commandContext = (project: Project, audit: AuditedAction): AuditedContext => ({
  ...project,
  audit,
  actor: commandLine,
  isSuperAdmin: true,
  now: Date.now,
})

/** Runs an operation. `key`: that of a token. */
export const runOperation = <Route extends string, Input extends z.ZodType, Output extends z.ZodType | null>(
  { run, audit }: Operation<Route, Input, Output>,
  project: Project,
  input: InputOf<Route, Input>,
  key?: string,
): Promise<Done> => run!({ ...commandContext(project, audit!), key }, input)
