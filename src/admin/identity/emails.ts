// The e-mails that administrators get. Strapi's panel has templates for users only.

import { type Email, escapeHtml } from '../../identity/accounts/email.js'
import type { Administration } from '../context.js'

interface EmailTemplate {
  readonly subject: string
  readonly page: string
  readonly sentences: readonly string[]
}

const templates = {
  reset: {
    subject: 'Choose a new password',
    page: 'reset',
    sentences: [
      'Someone, probably you, asked for a new password for your account as an administrator.',
      'If it was not you, there is nothing to do.',
    ],
  },
  invitation: {
    subject: 'You are invited',
    page: 'invitation',
    sentences: ['You are invited to be an administrator. Choose your password on this page.'],
  },
} as const satisfies Readonly<Record<string, EmailTemplate>>

/** The URL of the page for a code. */
export const pageUrl = ({ config }: Pick<Administration, 'config'>, kind: keyof typeof templates, code: string): string =>
  `${config.publicUrl}/admin/${templates[kind].page}/${code}`

/** Returns an e-mail with the link of a code. */
export function createEmail(administration: Pick<Administration, 'config'>, kind: keyof typeof templates, to: string, code: string): Email {
  const { subject, sentences } = templates[kind]
  const link = escapeHtml(pageUrl(administration, kind, code))
  return {
    to,
    from: null,
    subject,
    text: [...sentences, pageUrl(administration, kind, code)].join('\n\n'),
    html: [...sentences, `<a href="${link}">${link}</a>`].map((sentence) => `<p>${sentence}</p>`).join('\n'),
  }
}
