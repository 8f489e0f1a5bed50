// Custom routes with their controllers.
import { createHmac } from 'node:crypto'
import * as z from 'zod'
import { checkOut } from './checkout.mjs'
import { apiError, notFound } from './errors.mjs'

const [article, order] = ['api::article.article', 'api::order.order']

/** Reports errors in Strapi's form, so that clients see no difference. */
function checkPayment({ number, gift }) {
  const message = number === undefined ? 'number is a required field' : 'number must be at least 2 characters'
  const wrong = [
    ...(typeof number === 'string' && number.length >= 2 ? [] : [{ path: ['number'], message, value: number }]),
    ...(gift === undefined || typeof gift === 'boolean'
      ? []
      : [{ path: ['gift'], message: `gift must be a \`boolean\` type, but the final value was: \`"${gift}"\`.`, value: gift }]),
  ]
  const errors = wrong.map((one) => ({ ...one, name: 'ValidationError' }))
  if (errors.length > 0) throw apiError('ValidationError', errors.length === 1 ? message : `${errors.length} errors occurred`, { errors })
}

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
    path: '/articles/best',
    auth: false,
    handle: async ({ unrestricted }) => {
      const best = await unrestricted.documents(article).findFirst({ filters: { featured: true }, sort: 'words:desc', status: 'published' })
      return new Response(null, { status: 302, headers: { location: `/api/articles/${best.documentId}`, 'x-best': best.slug } })
    },
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
    body: 'json',
    handle: async ({ params: { documentId }, body, documents, unrestricted }) => {
      checkPayment(body)
      if ((await documents(order).findOne({ documentId })) === null) throw notFound()
      return { data: await checkOut(unrestricted, documentId, body.number) }
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
