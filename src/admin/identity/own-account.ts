// What administrators change of their own accounts, whatever their roles allow.

import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'
import { changeAdministrator } from './accounts.js'
import type { Administrator } from './identify.js'
import { type TeamChanges, teamColumns } from './team.js'

/** Changes the names and the language of the administrator who asks. */
export const changeOwnNames = (
  administration: Administration,
  actor: ActingAdministrator,
  { id, email }: Administrator,
  { firstname, lastname, language }: Pick<TeamChanges, 'firstname' | 'lastname' | 'language'>,
): Promise<void> =>
  doAct(administration, actor, async (transaction, now) => {
    const columns = teamColumns({ firstname, lastname, language })
    if (Object.keys(columns).length === 0) return [null, undefined]
    await changeAdministrator(transaction, id, columns, now)
    return [{ action: 'update', subject: 'administrator', id: String(id), name: email, fields: Object.keys(columns) }, undefined]
  })
