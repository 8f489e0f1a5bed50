// Loaded ahead of a program (`node --import`): notes the most resident memory that it has had, in bytes, and the seconds of the processor that
// it has used, in the file OCTAVO_PEAK_FILE; now and then, because some programs end without an event.

import { writeFileSync } from 'node:fs'

const file = process.env.OCTAVO_PEAK_FILE
if (file !== undefined) {
  const note = () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    writeFileSync(file, `${maxRSS * 1024} ${(userCPUTime + systemCPUTime) / 1_000_000}`)
  }
  setInterval(note, 250).unref()
  process.on('exit', note)
}
