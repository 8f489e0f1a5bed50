// The public interface of the package.
export type { Config, UserConfig } from './config/config.js'
export { defineConfig, loadConfig } from './config/config.js'
export { defineHook } from './config/hooks.js'
export { ApiError, ConfigError } from './errors/errors.js'
export type { Grants } from './grants.js'
export { grantsOf } from './grants.js'
export * from './public/content/content-types.js'
export type { Result } from './public/content/results.js'
export type { TypedDocuments } from './public/content/typed-documents.js'
export type {
  AfterCall,
  BeforeCall,
  Criteria,
  Data,
  Document,
  DocumentService,
  Documents,
  DocumentsOf,
  Entries,
  Hook,
  HookAction,
  HookOf,
  Identity,
  ListParameters,
  OperationCaller,
  Populate,
  Shown,
  Version,
} from './public/documents.js'
export type { ContentEvent, EntryEvent, EntryEventName, EventListener, MediaEvent, MediaEventName } from './public/events.js'
export type { QueryDefaults, ScopeCall, ScopeResult, TypeSettings } from './public/type-settings.js'
export type { Service } from './service.js'
export { createService } from './service.js'
