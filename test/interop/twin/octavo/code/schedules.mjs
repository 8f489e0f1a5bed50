// The cron task: it notes once how many articles are published.
export const schedules = [
  {
    name: 'beat',
    cron: '* * * * * *',
    run: async ({ documents }) => {
      const beats = documents('api::beat.beat')
      if ((await beats.count()) > 0) return
      const articles = await documents('api::article.article').count({ status: 'published' })
      await beats.create({ data: { name: 'first', articles } })
    },
  },
]
