// The e-mails that administrators get. Strapi's panel has templates for users only.
import { type Email, escapeHtml } from '../../identity/accounts/email.js'
import type { Administration } from '../context.js'

/** An e-mail with a link that has a code. */
interface Letter {
  readonly subject: string
  /** The path of the page, below /admin. */
  readonly page: string
  readonly sentences: readonly string[]
}

const letters = {
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
} as const satisfies Readonly<Record<string, Letter>>

/** The page on which a code is used. */
export const pageOf = ({ config }: Pick<Administration, 'config'>, kind: keyof typeof letters, code: string): string =>
  `${config.publicUrl}/admin/${letters[kind].page}/${code}`

/** Returns an e-mail with the link of a code. */
export function letterOf(administration: Pick<Administration, 'config'>, kind: keyof typeof letters, to: string, code: string): Email {
  const { subject, sentences } = letters[kind]
  const link = escapeHtml(pageOf(administration, kind, code))
  return {
    to,
    from: null,
    subject,
    text: [...sentences, pageOf(administration, kind, code)].join('\n\n'),
    html: [...sentences, `<a href="${link}">${link}</a>`].map((sentence) => `<p>${sentence}</p>`).join('\n'),
  }
}
