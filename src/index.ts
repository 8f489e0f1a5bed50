// The public interface of the package.
export type { Config, UserConfig } from './config.js'
export { defineConfig, loadConfig } from './config.js'
export { ApiError, ConfigError } from './errors.js'
export type { ContentEvent, EntryEvent, EntryEventName, EventListener, MediaEvent, MediaEventName } from './events.js'
export type { Grants } from './grants.js'
export { grantsOf } from './grants.js'
export type {
  AfterCall,
  BeforeCall,
  Criteria,
  Data,
  Document,
  DocumentService,
  Documents,
  Entries,
  Hook,
  HookAction,
  Identity,
  ListParameters,
  OperationCaller,
  Populate,
  Shown,
  Version,
} from './interface.js'
export type { Service } from './service.js'
export { createService } from './service.js'
