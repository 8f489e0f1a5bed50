// Process that examines a project while its service runs: it delays no request and can be killed at any time.

import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { doctorTimeout, examine, type FromDoctorProcess, reportOf, type ToDoctorProcess } from './examine.js'

// The service stops this process, so signals to the process group are ignored.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

const send = (message: FromDoctorProcess): void => void process.send!(message, () => process.exit())

async function run({ settings, model }: ToDoctorProcess): Promise<FromDoctorProcess> {
  try {
    // A snapshot depends on no other settings.
    const config = settings as Config
    const view = await (await getDriver(config)).openSnapshot(config, doctorTimeout(settings.limits))
    return { report: reportOf(await examine({ database: view, model }, settings.uploadsFolder)) }
  } catch (error) {
    return { failure: (error as Error).message }
  }
}

process.once('message', async (message) => send(await run(message as ToDoctorProcess)))
