// In place of custom routes with their controllers.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { checkOut } from './checkout.mjs'
import { settings } from './settings.mjs'

const [article, order] = ['api::article.article', 'api::order.order']

/** A schema of any library that implements Standard Schema would do: z.object({ number: z.string().min(1) }). */
const paymentSchema = {
  '~standard': {
    version: 1,
    vendor: 'example',
    validate: (value) =>
      typeof value?.number === 'string' && value.number !== ''
        ? { value: { number: value.number } }
        : { issues: [{ message: 'number must be a text', path: ['number'] }] },
  },
}

const notFound = () => Object.assign(new Error('Not Found'), { name: 'NotFoundError' })

export const routes = [
  {
    method: 'POST',
    path: '/orders/:documentId/checkout',
    action: 'api::order.order.checkout',
    body: paymentSchema,
    handle: async ({ params, body, documents, unrestricted }) => {
      // The caller's own orders only: the scope of the type holds.
      if ((await documents(order).findOne(params)) === null) throw notFound()
      return { data: await checkOut(unrestricted, params.documentId, body.number) }
    },
  },
  {
    method: 'GET',
    path: '/articles/featured',
    action: 'api::article.article.find',
    handle: async ({ documents }) => ({
      data: await documents(article).findMany({ filters: { featured: true }, fields: ['title', 'slug'], sort: 'title', limit: 5 }),
    }),
  },
  {
    method: 'GET',
    path: '/articles/export',
    action: 'api::article.article.export',
    handle: ({ documents, signal }) => new Response(lines(documents, signal), { headers: { 'content-type': 'text/csv; charset=utf-8' } }),
  },
  {
    // Another service calls this one and signs its requests.
    method: 'POST',
    path: '/webhooks/payments',
    base: 'root',
    auth: false,
    body: 'raw',
    handle: async ({ body, request, unrestricted, log }) => {
      const signature = createHmac('sha256', settings.paymentsSecret).update(body).digest()
      const given = Buffer.from(String(request.headers['x-signature'] ?? ''), 'hex')
      if (given.length !== signature.length || !timingSafeEqual(given, signature))
        throw Object.assign(new Error('Wrong signature'), { name: 'UnauthorizedError' })
      const { orderId, number } = JSON.parse(body.toString('utf8'))
      if ((await unrestricted.documents(order).findOne({ documentId: orderId })) === null) throw notFound()
      await checkOut(unrestricted, orderId, number)
      log.info('a payment was noted', { number })
    },
  },
]

/** All articles as lines, a page at a time. */
async function* lines(documents, signal) {
  yield 'title,slug\n'
  for (let start = 0; !signal.aborted; start += 100) {
    const page = await documents(article).findMany({ fields: ['title', 'slug'], sort: 'id', start, limit: 100 })
    for (const { title, slug } of page) yield `"${title.replaceAll('"', '""')}",${slug}\n`
    if (page.length < 100) return
  }
}
