// The settings of the benchmark's project, with cron tasks.
module.exports = ({ env }) => ({
  host: '127.0.0.1',
  port: env.int('PORT'),
  app: { keys: env.array('APP_KEYS') },
  logger: { updates: { enabled: false }, startup: { enabled: false } },
  cron: { enabled: true, tasks: require('./cron-tasks') },
})
