// The public interface of the package.
export type { Config, UserConfig } from './config/config.js'
export { defineConfig, loadConfig } from './config/config.js'
export { defineHook } from './config/hooks.js'
export { defineRoute } from './config/routes.js'
export { ApiError, ConfigError } from './errors/errors.js'
export type { Grants } from './grants.js'
export { grantsOf } from './grants.js'
export type { CodeLog } from './public/code-log.js'
export * from './public/content/content-types.js'
export type { Result } from './public/content/results.js'
export type { TypedDocuments } from './public/content/typed-documents.js'
export type { TypedTransactionWrites } from './public/content/typed-transactions.js'
export type { CallerContentService, ContentService } from './public/content-service.js'
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
} from './public/documents.js'
export type { ContentEvent, EntryEvent, EntryEventName, EventListener, MediaEvent, MediaEventName } from './public/events.js'
export type { AfterCall, AfterCallOf, BeforeCall, BeforeCallOf, Hook, HookOf } from './public/hooks.js'
export type { Mail, MailAddresses, SendMail } from './public/mail.js'
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
} from './public/routes.js'
export type { Schedule, ScheduleCall } from './public/schedules.js'
export type {
  JsonSchema,
  JsonSchemaConverter,
  JsonSchemaOptions,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from './public/standard-schema.js'
export type {
  DescribeWrites,
  Transact,
  TransactionOptions,
  TransactionWrites,
  WriteCondition,
  WritesOf,
} from './public/transactions.js'
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
} from './public/type-settings.js'
export type { FileTarget, FileUpload, Upload, UploadedFile } from './public/uploads.js'
export type { Entries, PendingCreate, PendingWrite, WrittenAs } from './public/write-results.js'
export type { Service } from './service.js'
export { createService } from './service.js'
