// The public interface of the package.

export { defineHook, defineRoute } from '../foundation/config/code-settings.js'
export type { Config, UserConfig } from '../foundation/config/config.js'
export { defineConfig, loadConfig } from '../foundation/config/config.js'
export { ApiError, ConfigError } from '../foundation/errors/errors.js'
export type { Grants } from '../foundation/grants.js'
export { grantsOf } from '../foundation/grants.js'
export * from '../foundation/public/content/content-types.js'
export type { Result } from '../foundation/public/content/results.js'
export type { CallerContentService, CodeLog, ContentService, Mail, MailAddresses, SendMail } from '../foundation/public/content-service.js'
export type {
  Criteria,
  Data,
  DescribeWrites,
  Document,
  DocumentSelection,
  DocumentService,
  Documents,
  DocumentsOf,
  Entries,
  HookAction,
  Identity,
  ListParameters,
  OperationCaller,
  PendingCreate,
  PendingWrite,
  Populate,
  Shown,
  Transact,
  TransactionOptions,
  TransactionWrites,
  TypedDocuments,
  TypedTransactionWrites,
  Version,
  WriteCondition,
  WritesOf,
  WrittenAs,
} from '../foundation/public/documents.js'
export type { ContentEvent, EntryEvent, EntryEventName, EventListener, MediaEvent, MediaEventName } from '../foundation/public/events.js'
export type { AfterCall, AfterCallOf, BeforeCall, BeforeCallOf, Hook, HookOf } from '../foundation/public/hooks.js'
export type {
  BodyOf,
  CustomRoute,
  JsonSchema,
  JsonSchemaConverter,
  JsonSchemaOptions,
  PathParameters,
  ResponsesByStatus,
  RouteBody,
  RouteCall,
  RouteDefinition,
  RouteMethod,
  RouteRequest,
  RouteResponse,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from '../foundation/public/routes.js'
export type { Schedule, ScheduleCall } from '../foundation/public/schedules.js'
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
export type { Service } from './service.js'
export { createService } from './service.js'
