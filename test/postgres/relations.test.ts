// Writes to relations on PostgreSQL.
import { expect, it } from 'vitest'
import { describePostgres } from '../servers/server.js'
import { serveGolden } from '../support/serve.js'

describePostgres('relations on PostgreSQL', (server) => {
  it('can be disconnected where nothing is connected', async () => {
    const url = await server().createDatabase()
    const served = await serveGolden({ environment: { DATABASE_CLIENT: 'postgres', DATABASE_URL: url } })
    try {
      const article = await served.service.documents('api::article.article').create({ data: { title: 'alone' } })
      const categories = served.service.documents('api::category.category')
      const made = await categories.create({ data: { name: 'empty', articles: { disconnect: [article.documentId] } } })
      expect(made).toMatchObject({ name: 'empty' })
    } finally {
      await served.close()
    }
  })
})
