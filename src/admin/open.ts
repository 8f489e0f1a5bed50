// Opens the administration when its first request comes: until then nothing of it is kept.

import { onceDone } from '../foundation/runtime/coalesce.js'
import { type Doctor, openDoctor } from '../operations/doctor/doctor-client.js'
import type { Administration, AdministrationParts } from './context.js'
import { anyAdministrator } from './identity/administrators.js'
import type { LoggedCode } from './identity/bootstrap.js'

/** The administration of a service, which may never be opened. */
export interface LateAdministration {
  /** Opens it, once. A failure is tried again. @throws ApiError 501 where the database has no administrators */
  open(): Promise<Administration>
  /** Logs the code of the first administrator if there is none. Without tables of administrators, nothing is logged. */
  announce(): void
  readonly doctor: Doctor
  /** Ends the checks of the database. */
  close(): void
}

/** Prepares the administration of a service. */
export function prepareAdministration(given: Omit<AdministrationParts, 'logFirstCode'>): LateAdministration {
  const { config, database, log, now } = given
  const told: LoggedCode = { hour: null }
  const logCode = async (): Promise<boolean> => {
    if (await anyAdministrator(database)) return false
    const { logFirstCode } = await import('./identity/bootstrap.js')
    const { secrets, publicUrl, folder } = config
    logFirstCode({ secrets, publicUrl, folder, log: (sentence) => log.info(sentence), now }, told)
    return true
  }
  const open = onceDone(async (): Promise<Administration> => {
    const { openAdministration } = await import('./context.js')
    return openAdministration({ ...given, logFirstCode: logCode })
  })
  const doctor = openDoctor(config)
  return { open, doctor, announce: () => void logCode().catch(() => {}), close: () => doctor.close() }
}
