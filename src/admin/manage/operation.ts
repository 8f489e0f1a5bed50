// The definition of an operation of the administration. Its resource (http/admin/resources.ts) and its command (service/cli) follow from it.

import type * as z from 'zod'
import type { MainConnection, Transaction, WriteDatabase } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import type { AccountContext } from '../../identity/accounts/context.js'
import type { Model } from '../../model/schema/types.js'
import { type ActingAdministrator, type AdministratorAction, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator, WholeType } from '../identity/identify.js'

/**
 * The allowed caller. `anybody`: without credentials. `page`: only the page of the service, whose requests set or send the cookie.
 * `administrator`: any signed-in administrator. `byRoles`: the same, with checks of rights in the handler. `superAdministrator`: the role
 * of super administrators. An action: a role allows it, on all documents of the type in `on`; `onFiles`: its conditions are checked for
 * each file.
 */
export type AllowedCaller =
  | 'anybody'
  | 'page'
  | 'administrator'
  | 'byRoles'
  | 'superAdministrator'
  | { readonly action: string; readonly on?: WholeType; readonly onFiles?: true }

/** Counts attempts of an IP address: all, or failures only. */
export interface CountedAttempts {
  readonly name: string
  readonly counted: 'failures' | 'all'
}

/** The parts that operations use, for a request or a command. */
export interface OperationContext {
  readonly config: Config
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly model: Model
  readonly actor: ActingAdministrator
  readonly isSuperAdmin: boolean
  /** The key of a token that a command was given; absent: it is generated. */
  readonly key?: string | undefined
  now(): number
}

/** The context of a request. Operations without a command may require it. */
export interface RequestOperationContext extends OperationContext {
  readonly administration: Administration
  readonly administrator: Administrator
  readonly accounts: AccountContext
  /** The revisions in `If-Match`. */
  readonly revisions: readonly string[]
}

/** The verb and kind of object in the log of activity and the audit log. */
export type AuditedAction = Pick<AdministratorAction, 'action' | 'subject'>

/** The context of a change. */
export interface AuditedContext extends OperationContext {
  readonly audit: AuditedAction
}

export type RequestChangeContext = AuditedContext & RequestOperationContext

/** A change that was carried out: its entry without the verb, and data that only the response contains. */
export type Done = Omit<AdministratorAction, 'action' | 'subject'>

/** The object in the path. */
type Target<Route extends string> = Route extends `${string}:id${string}`
  ? { readonly id: number }
  : Route extends `${string}:code${string}`
    ? { readonly code: string }
    : unknown

export type InputOf<Route extends string, Input> = Target<Route> & (Input extends z.ZodType ? z.output<Input> : unknown)

/** A value that is readonly at every depth. */
export type Immutable<Value> = Value extends readonly (infer Member)[]
  ? readonly Immutable<Member>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
    : Value

/** An operation. */
export interface Operation<
  Route extends string = string,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType | null = z.ZodType | null,
> {
  /** Method and path below /admin/api; the parameters of the path are part of the input. */
  readonly route: Route
  /** One sentence for the description, without a full stop. */
  readonly summary: string
  readonly rights: AllowedCaller
  /** Requires the password again after ten minutes. */
  readonly isStrong?: boolean
  /** The response contains a secret. */
  readonly isSecret?: boolean
  readonly attempts?: CountedAttempts
  /** The change requires the revision of an object, its `revision` in the response; after another change, callers who may `read` get it; absent: all. */
  readonly state?: { readonly of: string; readonly read?: string }
  /** The response of a creation has the revision of the object as its ETag. */
  readonly isTagged?: boolean
  /** The query of a GET, or the body. */
  readonly input?: Input
  /** The response; null: none. */
  readonly output: Output
  /** The entry of the change; absent: nothing changes. A POST with an entry is carried out once for each `Idempotency-Key`. */
  readonly audit?: AuditedAction
  /** Carries out the change with its entry (`act`). */
  run?(context: AuditedContext, input: InputOf<Route, Input>): Promise<Done>
  /** The response, also to a repeated request; `done`: the result of `run`. */
  respond?(
    context: OperationContext,
    input: InputOf<Route, Input>,
    done: Done,
  ): Promise<Output extends z.ZodType ? Immutable<z.input<Output>> : never>
}

/** Creates an operation, and checks its functions against its schemas. */
export const operation = <const Route extends string, Output extends z.ZodType | null, Input extends z.ZodType = z.ZodUnknown>(
  definition: Operation<Route, Input, Output>,
): Operation<Route, Input, Output> => definition

/** A change with its entry in one transaction. `work` resolves to null if nothing changed. */
export const act = <Result extends Done | null>(
  context: Omit<AuditedContext, 'database' | 'model' | 'isSuperAdmin'>,
  work: (transaction: Transaction, now: number) => Promise<Result>,
): Promise<Result> =>
  doAction(context, context.actor, async (transaction, now) => {
    const done = await work(transaction, now)
    return [done === null ? null : { ...context.audit, ...done }, done]
  })
