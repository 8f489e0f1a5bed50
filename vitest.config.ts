import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/databases.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Every file starts servers of its own: two at a time are enough for two cores.
    maxWorkers: 2,
    reporters: ['default'],
  },
})
