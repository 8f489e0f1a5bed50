// A cron task: it notes once how many articles are published.
module.exports = {
  beat: {
    task: async ({ strapi }) => {
      const beats = strapi.documents('api::beat.beat')
      if ((await beats.count({})) > 0) return
      const articles = await strapi.documents('api::article.article').count({ status: 'published' })
      await beats.create({ data: { name: 'first', articles } })
    },
    options: { rule: '* * * * * *' },
  },
}
