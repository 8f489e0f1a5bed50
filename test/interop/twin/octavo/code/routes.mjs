// Custom routes with their controllers.
import { createHmac } from 'node:crypto'
import * as z from 'zod'
import { checkOut } from './checkout.mjs'
import { apiError, notFound } from './errors.mjs'

const [article, order] = ['api::article.article', 'api::order.order']

export const routes = [
  {
    method: 'GET',
    path: '/articles/featured',
    action: 'api::article.article.featured',
    handle: async ({ unrestricted }) => ({
      data: await unrestricted.documents(article).findMany({
        ...{ filters: { featured: true, audience: 'everyone' }, fields: ['title', 'slug'], sort: 'title', limit: 5, status: 'published' },
      }),
    }),
  },
  {
    method: 'GET',
    path: '/articles/export',
    action: 'api::article.article.export',
    handle: async ({ unrestricted }) => {
      const found = await unrestricted.documents(article).findMany({ fields: ['title', 'slug'], sort: 'title', status: 'published' })
      const lines = ['title,slug', ...found.map(({ title, slug }) => `"${title}",${slug}`), '']
      return new Response(lines.join('\n'), { headers: { 'content-type': 'text/csv; charset=utf-8' } })
    },
  },
  {
    method: 'GET',
    path: '/articles/statistics',
    auth: false,
    query: z.object({ minimum: z.coerce.number().int().min(0).default(0) }),
    handle: async ({ query: { minimum }, unrestricted }) => {
      const count = await unrestricted.documents(article).count({ status: 'published', filters: { words: { $gte: minimum } } })
      if (count === 0) throw apiError('NotFoundError', 'No article is that long', { minimum })
      return { count }
    },
  },
  {
    method: 'POST',
    path: '/orders/:documentId/checkout',
    action: 'api::order.order.checkout',
    body: z.strictObject({ number: z.string().min(2), gift: z.boolean().optional() }),
    handle: async ({ params: { documentId }, body: { number }, documents, unrestricted }) => {
      if ((await documents(order).findOne({ documentId })) === null) throw notFound()
      return { data: await checkOut(unrestricted, documentId, number) }
    },
  },
  {
    method: 'POST',
    path: '/hooks/payments',
    auth: false,
    body: 'raw',
    handle: async ({ body, request, unrestricted }) => {
      const signature = createHmac('sha256', 'payments').update(body).digest('hex')
      if (request.headers['x-signature'] !== signature) throw apiError('UnauthorizedError', 'Wrong signature')
      const { order: documentId, number } = JSON.parse(body.toString())
      await checkOut(unrestricted, documentId, number)
    },
  },
]
