// The service's side of an image process: sends one image at a time, and kills the process if an image exceeds the limits.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { timePerCpuTime } from '../../../foundation/config/limits.js'
import type { DerivedImage, FromImageProcess, ImageSize, SourceImage, ToImageProcess } from './protocol.js'

export type Outcome =
  /** Without the formats that would exceed the limits. */
  | { readonly kind: 'made'; readonly image: SourceImage }
  | { readonly kind: 'broken' }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unstarted'; readonly message: string }

export interface ImageWorker {
  /** Processes an image; one at a time. Never rejects. */
  work(request: ToImageProcess): Promise<Outcome>
  /** False once the process is unusable. */
  isAlive(): boolean
  stop(): void
}

/** Environment variables passed to the process; none is secret. */
const environment = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP']

/** One thread each for the library, V8 and file access: every thread needs memory. */
const flags = ['--v8-pool-size=1', '--max-old-space-size=64', '--max-semi-space-size=1']

/** Sets the limits that the system supports (memory in bytes, no core dump) and runs the command. */
const limited = 'ulimit -d "$1" 2>/dev/null; ulimit -c 0 2>/dev/null; shift; unset PWD OLDPWD; exec "$@"'

/** Starts an image process with a memory limit in bytes. */
export function startImageWorker(memory: number): ImageWorker {
  const imageProcess = openImageProcess(memory)

  async function work(request: ToImageProcess): Promise<Outcome> {
    let size: ImageSize | null = null
    let formats: ReadonlyMap<string, DerivedImage> = new Map()
    let timeout: NodeJS.Timeout | undefined
    const made = (encoded: DerivedImage | null): Outcome => ({
      kind: 'made',
      image: { width: size?.width ?? null, height: size?.height ?? null, encoded, formats },
    })
    const outcome = new Promise<Outcome>((resolve) => {
      const beyond = (): void => {
        imageProcess.stop()
        // If the image should have been rotated, its formats do not match the original.
        if (request.settings.autoOrientation) formats = new Map()
        resolve(made(null))
      }
      imageProcess.listen((report) => {
        if (report === 'lost') resolve({ kind: 'lost' })
        else if (report === 'died' || report.kind === 'beyond') beyond()
        else if (report.kind === 'measured') size = report.size
        else if (report.kind === 'formats') formats = report.formats
        else resolve(report.kind === 'done' ? made(report.encoded) : report)
      })
      timeout = setTimeout(beyond, request.bounds.imageCpuTime * timePerCpuTime)
      imageProcess.send(request)
    })
    try {
      return await outcome
    } finally {
      clearTimeout(timeout)
      imageProcess.listen(ignored)
    }
  }

  return { work, isAlive: imageProcess.isAlive, stop: imageProcess.stop }
}

/** A message of the process, or its end. */
type ProcessReport = Exclude<FromImageProcess, { readonly kind: 'ready' }> | 'lost' | 'died'

interface ImageProcess {
  isAlive(): boolean
  listen(listener: (report: ProcessReport) => void): void
  send(request: ToImageProcess): void
  stop(): void
}

const ignored = (): void => {}

function openImageProcess(memory: number): ImageProcess {
  const child = startProcess(memory)
  let alive = true
  let isReady = false
  let listener: (report: ProcessReport) => void = ignored
  const unstarted = (message: string) => listener({ kind: 'unstarted', message })
  child.on('message', (message: FromImageProcess) => {
    if (message.kind === 'ready') isReady = true
    else {
      // The process ends by itself, possibly after it was sent the next image.
      if (message.kind === 'unstarted') alive = false
      listener(message)
    }
  })
  child.on('exit', () => {
    alive = false
  })
  // `close` follows the last message.
  child.on('close', (code, signal) => {
    // A decoder that runs out of memory aborts; SIGKILL comes from outside.
    if (signal === 'SIGKILL') listener('lost')
    else if (isReady) listener('died')
    else unstarted(`it ended with ${signal ?? `status ${code}`}`)
  })
  child.on('error', (error) => {
    alive = false
    if (isReady) listener('lost')
    else unstarted(error.message)
  })
  child.stdin?.on('error', ignored)
  return {
    isAlive: () => alive,
    listen: (next) => {
      listener = next
    },
    // A process that failed to start reports that itself.
    send: (request) => {
      if (child.pid !== undefined) child.send(request, (error) => error !== null && isReady && listener('lost'))
    },
    stop: () => {
      alive = false
      child.kill('SIGKILL')
    },
  }
}

function startProcess(memory: number): ChildProcess {
  const command = [process.execPath, ...flags, fileURLToPath(new URL('./image-process.js', import.meta.url))]
  if (process.platform === 'win32') return start(command)
  const child = start(['/bin/sh', '-c', limited, 'sh', String(Math.ceil(memory / 1_024)), ...command])
  if (child.pid !== undefined) return child
  // Without a shell, as in some container images, limits cannot be set; the process only checks its memory at intervals.
  child.on('error', () => {})
  return start(command)
}

function start([file, ...args]: readonly string[]): ChildProcess {
  return spawn(file!, args, { env: processEnvironment(), serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
}

function processEnvironment(): Record<string, string> {
  const known = environment.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(known), UV_THREADPOOL_SIZE: '1' }
}
