// Work in tests is measured by the time that processors spent on it: unlike time on the clock, it is the same on a busy machine.
import { existsSync, readFileSync } from 'node:fs'

const threadTimes = '/proc/thread-self/schedstat'

/** Milliseconds of CPU time of this thread; on systems other than Linux of this process. */
export const threadCpuMs = (): number =>
  existsSync(threadTimes) ? Number(readFileSync(threadTimes, 'utf8').split(' ')[0]) / 1e6 : processCpuMs()

/** Milliseconds of CPU time of this process, with the threads of services in it. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Milliseconds of CPU time of another process, in steps of ten. Linux only. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** CPU time of work in this process. */
export async function cpuTimeOf(work: () => unknown): Promise<number> {
  const before = processCpuMs()
  await work()
  return processCpuMs() - before
}
