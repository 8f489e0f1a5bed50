// The dependencies of the HTTP server: parts of the service, and its own that all mounts share.
import type { LateAdministration } from '../admin/open.js'
import type { ProjectScopes } from '../content/documents/guard/scopes.js'
import type { StreamedEvents } from '../content/events/open.js'
import type { Library } from '../content/media/library.js'
import type { CheckAddress } from '../content/media/signing.js'
import type { AddSourceMaps } from '../content/source-maps.js'
import type { Config } from '../foundation/config/config.js'
import type { Audit } from '../foundation/runtime/audit-log.js'
import type { Metrics } from '../foundation/runtime/metrics.js'
import type { Tracing } from '../foundation/runtime/tracing.js'
import type { Identification } from '../identity/access/identify.js'
import type { ContentServices } from '../project/code/content-service.js'
import type { Installations } from '../project/installation.js'
import type { ModelChanges } from '../project/model-changes/builder-request.js'
import type { Compression } from './compression.js'
import type { Connections } from './connections.js'
import type { Hints } from './hints/hints.js'
import type { BodyBudget, ResponseBudget } from './memory-budgets.js'
import type { OpenStreams } from './open-streams.js'

/** The parts of the service that the server uses. */
export interface Backend {
  readonly identification: Identification
  readonly library: Library
  /** Checks signed URLs of files; null if the files are public. */
  readonly checkAddress: CheckAddress | null
  /** True if responses sign the URLs of files, and state that for each file. */
  readonly signsAddresses: boolean
  /** Adds source maps to responses. */
  readonly markSources: AddSourceMaps
  /** Null while the service is healthy; otherwise a sentence about the problem. */
  health(): string | null
  readonly installations: Installations
  readonly administration: LateAdministration
  readonly modelChanges: ModelChanges
  readonly services: ContentServices
  /** The scopes of the project; null if it has none. */
  readonly scopes: ProjectScopes | null
  readonly streamed: StreamedEvents
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null
  /** Null: no traces are collected. */
  readonly tracing: Tracing | null
  /** Null: there is no audit log. */
  readonly audit: Audit | null
  readonly version: string
}

export interface MountContext {
  readonly config: Config
  readonly backend: Backend
  readonly connections: Connections
  readonly bodies: BodyBudget
  readonly unsent: ResponseBudget
  /** Null if responses are sent as they are. */
  readonly compression: Compression | null
  /** Null unless NODE_ENV is `development`. */
  readonly hints: Hints | null
  readonly streams: OpenStreams
}
