// E-mails by code of the project: in routes and in scripts.
import { expect } from 'vitest'
import { rule } from '../support/rule.js'
import { letters, post, serveAccounts } from './golden.js'

rule('email.3', 'code of the project sends e-mails, with the errors of the route', async () => {
  const served = await serveAccounts({
    code: {
      routes: [
        {
          ...{ method: 'POST', path: '/contact', auth: false, body: 'json' },
          handle: async ({ mail, unrestricted, body }) => {
            await mail({ to: 'desk@example.test', subject: 'Contact', text: (body as { text: string }).text })
            await unrestricted.mail({ to: ['desk@example.test'], subject: 'Again', html: '<b>h</b>' })
            return 'sent'
          },
        },
      ],
    },
  })
  try {
    expect((await post(served, '/api/contact', { text: 'hello' })).status).toBe(200)
    await served.service.mail({ to: 'ada@example.test', subject: 'Script', text: 'by a script' })
    expect((await letters(served, 3)).map(({ to, text }) => [to, text])).toEqual([
      ['desk@example.test', 'hello'],
      ['desk@example.test', '<b>h</b>'],
      ['ada@example.test', 'by a script'],
    ])
    await expect(served.service.mail({ to: 'x', subject: 's', text: 't' })).rejects.toMatchObject({ status: 400 })
    await expect(served.service.mail({ to: 'x@example.test', subject: 's', html: { path: '/etc/passwd' } as never })).rejects.toMatchObject(
      { status: 400 },
    )
  } finally {
    await served.close()
  }
})
