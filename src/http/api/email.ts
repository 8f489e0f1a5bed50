// The route by which callers with its permission send e-mails through the mail server of the project.
import { readEmail } from '../../accounts/given-email.js'
import { ok, type Route } from '../request-context.js'

/** The route of e-mails. */
export const emailRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/email',
    action: 'plugin::email.email.send',
    isContentless: true,
    handle: async ({ accounts, body, config }) => {
      await accounts.mail.send(readEmail(await body(), config.limits.mailRecipients))
      return ok({})
    },
  },
]
