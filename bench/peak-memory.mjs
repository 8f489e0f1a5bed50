// Loaded ahead of a program (`node --import`): notes at its end the most resident memory that it has had, in bytes, and the seconds of the
// processor that it has used, in the file OCTAVO_PEAK_FILE.

import { appendFileSync } from 'node:fs'

const file = process.env.OCTAVO_PEAK_FILE
if (file !== undefined)
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    appendFileSync(file, `${maxRSS * 1024} ${(userCPUTime + systemCPUTime) / 1_000_000}\n`)
  })
