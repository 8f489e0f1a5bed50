// In place of cron tasks.
import { settings } from './settings.mjs'

export const schedules = [
  {
    name: 'articles that are visible no longer',
    cron: settings.expiry,
    run: async ({ documents, log }) => {
      const gone = await documents('api::article.article').deleteMany({ filters: { visibleUntil: { $lt: new Date().toISOString() } } })
      if (gone.length > 0) log.info('articles were removed', { number: gone.length })
    },
  },
]
