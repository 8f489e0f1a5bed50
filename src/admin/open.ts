// Opens the administration when its first request comes: until then nothing of it is kept.

import { onceDone } from '../foundation/runtime/coalesce.js'
import { type Doctor, openDoctor } from '../operations/doctor/doctor-client.js'
import type { Administration, AdministrationParts } from './context.js'
import { anyAdministrator } from './identity/administrators.js'
import type { LoggedCode } from './identity/bootstrap.js'
import { openSchedule, type Schedule, type ScheduleOptions } from './schedule.js'

/** The administration of a service, which may never be opened. */
export interface LateAdministration {
  /** Opens it, once. A failure is tried again. @throws ApiError 501 where the database has no administrators */
  open(): Promise<Administration>
  /** Logs the code of the first administrator if there is none. Without tables of administrators, nothing is logged. */
  announce(): void
  readonly doctor: Doctor
  /** Publications and withdrawals at a later time. */
  readonly schedule: Pick<Schedule, 'start'>
  /** Ends the checks of the database and scheduled actions. */
  close(): Promise<void>
}

type GivenParts = Omit<AdministrationParts, 'logFirstCode' | 'scheduleChanged'> & Pick<ScheduleOptions, 'withInstallation'>

/** Prepares the administration of a service. */
export function prepareAdministration(given: GivenParts): LateAdministration {
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
    return openAdministration({ ...given, logFirstCode: logCode, scheduleChanged: schedule.look })
  })
  const schedule = openSchedule({ ...given, open })
  const doctor = openDoctor(config)
  return {
    open,
    doctor,
    schedule,
    announce: () => void logCode().catch(() => {}),
    close: async () => {
      doctor.close()
      await schedule.close()
    },
  }
}
