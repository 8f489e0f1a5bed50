// The public interface of the package.
export type { Config, UserConfig } from '../foundation/config/config.js'
export { defineConfig, loadConfig } from '../foundation/config/config.js'
export { defineHook } from '../foundation/config/hooks.js'
export { defineRoute } from '../foundation/config/routes.js'
export { ApiError, ConfigError } from '../foundation/errors/errors.js'
export type { Grants } from '../foundation/grants.js'
export { grantsOf } from '../foundation/grants.js'
export type { CodeLog } from '../foundation/public/code-log.js'
export * from '../foundation/public/content/content-types.js'
export type { Result } from '../foundation/public/content/results.js'
export type { TypedDocuments } from '../foundation/public/content/typed-documents.js'
export type { TypedTransactionWrites } from '../foundation/public/content/typed-transactions.js'
export type { CallerContentService, ContentService } from '../foundation/public/content-service.js'
export type {
  Criteria,
  Data,
  Document,
  DocumentSelection,
  DocumentService,
  Documents,
  DocumentsOf,
  HookAction,
  Identity,
  ListParameters,
  OperationCaller,
  Populate,
  Shown,
  Version,
} from '../foundation/public/documents.js'
export type { ContentEvent, EntryEvent, EntryEventName, EventListener, MediaEvent, MediaEventName } from '../foundation/public/events.js'
export type { AfterCall, AfterCallOf, BeforeCall, BeforeCallOf, Hook, HookOf } from '../foundation/public/hooks.js'
export type { Mail, MailAddresses, SendMail } from '../foundation/public/mail.js'
export type {
  BodyOf,
  CustomRoute,
  PathParameters,
  ResponsesByStatus,
  RouteBody,
  RouteCall,
  RouteDefinition,
  RouteMethod,
  RouteRequest,
  RouteResponse,
} from '../foundation/public/routes.js'
export type { Schedule, ScheduleCall } from '../foundation/public/schedules.js'
export type {
  JsonSchema,
  JsonSchemaConverter,
  JsonSchemaOptions,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from '../foundation/public/standard-schema.js'
export type {
  DescribeWrites,
  Transact,
  TransactionOptions,
  TransactionWrites,
  WriteCondition,
  WritesOf,
} from '../foundation/public/transactions.js'
export type {
  ApiAction,
  Policy,
  PolicyCall,
  QueryDefaults,
  ReadAfterCall,
  ReadBeforeCall,
  ReadHooks,
  ReadResponse,
  RequestQuery,
  ScopeCall,
  ScopeResult,
  TypeSettings,
} from '../foundation/public/type-settings.js'
export type { FileTarget, FileUpload, Upload, UploadedFile } from '../foundation/public/uploads.js'
export type { Entries, PendingCreate, PendingWrite, WrittenAs } from '../foundation/public/write-results.js'
export type { Service } from './service.js'
export { createService } from './service.js'
