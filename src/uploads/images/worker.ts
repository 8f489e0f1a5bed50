// One picture process as the service sees it: started under a limit of memory, given one picture at a time, and killed where
// that picture needs more than it may.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FromImageProcess, ImageSize, Made, SourceImage, ToImageProcess } from './protocol.js'

/** How the work on a picture ended. */
export type Outcome =
  /** With less than was wanted where the bounds did not allow more. */
  | { readonly kind: 'made'; readonly picture: SourceImage }
  | { readonly kind: 'broken' }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
  /** Somebody else ended the process. */
  | { readonly kind: 'lost' }
  /** The process has never come as far as to work on anything. */
  | { readonly kind: 'unstarted'; readonly message: string }

export interface ImageWorker {
  /** Works on a picture; one at a time. Never rejects. */
  work(asked: ToImageProcess): Promise<Outcome>
  /** False once the process is of no use any more. */
  isAlive(): boolean
  stop(): void
}

/** What the process gets of the environment: nothing that is secret. */
const environment = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP']

/** One thread each for the library, for V8 and for files: each would bring memory of its own. */
const flags = ['--v8-pool-size=1', '--max-old-space-size=64', '--max-semi-space-size=1']

/** Sets limits for the command that follows, as far as the system has them: bytes of memory, and no file with all of it. */
const limited = 'ulimit -d "$1" 2>/dev/null; ulimit -c 0 2>/dev/null; shift; unset PWD OLDPWD; exec "$@"'

/** Starts a picture process whose memory is limited to so many bytes. */
export function startImageWorker(memory: number): ImageWorker {
  const child = startProcess(memory)
  let [alive, isReady] = [true, false]
  let hear: (message: Exclude<FromImageProcess, { readonly kind: 'ready' }> | 'lost' | 'died') => void = () => {}
  const unstarted = (message: string) => hear({ kind: 'unstarted', message })
  child.on('message', (message: FromImageProcess) => {
    if (message.kind === 'ready') isReady = true
    else {
      // It ends by itself, maybe after somebody else has asked for it.
      if (message.kind === 'unstarted') alive = false
      hear(message)
    }
  })
  child.on('exit', () => {
    alive = false
  })
  // Comes when all that it said has been heard.
  child.on('close', (code, signal) => {
    // A decoder that gets no more memory aborts; SIGKILL comes from outside.
    if (signal === 'SIGKILL') hear('lost')
    else if (isReady) hear('died')
    else unstarted(`it ended with ${signal ?? `status ${code}`}`)
  })
  child.on('error', (error) => {
    alive = false
    if (isReady) hear('lost')
    else unstarted(error.message)
  })
  child.stdin?.on('error', () => {})

  function stop(): void {
    alive = false
    child.kill('SIGKILL')
  }

  async function work(asked: ToImageProcess): Promise<Outcome> {
    let size: ImageSize | null = null
    let formats: ReadonlyMap<string, Made> = new Map()
    let late: NodeJS.Timeout | undefined
    const made = (encoded: Made | null): Outcome => ({
      kind: 'made',
      picture: { width: size?.width ?? null, height: size?.height ?? null, encoded, formats },
    })
    const outcome = new Promise<Outcome>((resolve) => {
      const beyond = (): void => {
        stop()
        // Formats of a picture that was to be turned would not fit to the file as it came.
        if (asked.settings.autoOrientation) formats = new Map()
        resolve(made(null))
      }
      hear = (message) => {
        if (message === 'lost') resolve({ kind: 'lost' })
        else if (message === 'died' || message.kind === 'beyond') beyond()
        else if (message.kind === 'measured') size = message.size
        else if (message.kind === 'formats') formats = message.formats
        else resolve(message.kind === 'done' ? made(message.encoded) : message)
      }
      late = setTimeout(beyond, asked.bounds.imageTimeout)
      // Whoever could not be started says so by itself.
      if (child.pid !== undefined) child.send(asked, (error) => error !== null && isReady && hear('lost'))
    })
    try {
      return await outcome
    } finally {
      clearTimeout(late)
      hear = () => {}
    }
  }

  return { work, isAlive: () => alive, stop }
}

function startProcess(memory: number): ChildProcess {
  const command = [process.execPath, ...flags, fileURLToPath(new URL('./image-process.js', import.meta.url))]
  if (process.platform === 'win32') return start(command)
  const child = start(['/bin/sh', '-c', limited, 'sh', String(Math.ceil(memory / 1_024)), ...command])
  if (child.pid !== undefined) return child
  // Some images of containers have no shell. Without one nobody sets limits: the process looks at its own memory now and then, and
  // one that takes much at once, or dies, may take more or leave it in a file.
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
