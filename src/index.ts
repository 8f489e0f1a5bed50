// The public interface of the package.
export type { Config, UserConfig } from './config.js'
export { ConfigError, defineConfig, loadConfig } from './config.js'
export type { Service } from './service.js'
export { createService } from './service.js'
