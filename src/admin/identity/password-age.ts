// Stronger acts ask for the password again if it was given some time ago.
import { ApiError } from '../../foundation/errors/errors.js'
import type { Administration } from '../context.js'
import type { Administrator } from './identify.js'

/** Milliseconds after which a stronger act asks for the password again. */
const passwordLifetime = 600_000

/** @throws ApiError 403 with the reason `password` if the password was given too long ago for a stronger act */
export function checkPasswordAge({ now }: Pick<Administration, 'now'>, { passwordAt }: Administrator): void {
  if (now() - passwordAt > passwordLifetime)
    throw new ApiError('ForbiddenError', 'This asks for your password again (POST /session/password)', { reason: 'password' })
}
