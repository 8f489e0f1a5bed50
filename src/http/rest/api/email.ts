// The route by which callers with its permission send e-mails through the mail server of the project.
import { readEmail } from '../../../identity/accounts/given-email.js'
import { nameInTurns, ok, type Route } from '../../request-context.js'

/** The route of e-mails. */
export const emailRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/email',
    action: 'plugin::email.email.send',
    isContentless: true,
    handle: async (context) => {
      const { accounts, body, config } = context
      await accounts.mail.send(readEmail(await body(), config.limits.mailRecipients), nameInTurns(context))
      return ok({})
    },
  },
]
