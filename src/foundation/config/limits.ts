// Every limit that a project can set (`limits`), with its default. Other bounds are constants next to their use.
import * as z from 'zod'

/** The maxima of timers (24 days), of the engine and of SQLite; a limit beyond them would overflow. */
export const maxMs = 2_147_483_647
const maxBytes = 2_147_483_647
/** The maximum of `limits.bodyBytes`. */
export const maxBodyBytes = 500_000_000
const maxCount = 1_000_000_000
const maxImageBytes = 100_000_000_000

/** Wall-clock time of an image, in CPU times: other work may come first. */
export const timePerCpuTime = 12

/** Bytes of lines of a log that wait while the output is slow, full or closed; further lines are dropped and counted. */
export const maxWaitingLogBytes = 1_048_576

const count = (value: number, max = maxCount) => z.int().positive().max(max).default(value)
const countOrZero = (value: number) => z.int().min(0).max(maxCount).default(value)
const bytes = (value: number, max = maxBytes) => z.int().positive().max(max).default(value)
const fileBytes = (value: number) => z.int().positive().default(value)
const ms = (value: number, max = maxMs) => z.int().positive().max(max).default(value)
const msOrZero = (value: number) => z.int().min(0).max(maxMs).default(value)

/** Parameters of a query string, and the maximum of `api.rest.arrayLimit`. */
export const maxQueryParameters = 1_000

const requestLimits = () => ({
  /** Relations and components that one filter path may cross; each makes the query more expensive. */
  filterRelations: count(8, 32),
  /** Total number of conditions, sort keys and populated attributes in one request. */
  queryComplexity: count(1_000, 30_000),
  /** The request line and headers, including path and query. */
  headerBytes: bytes(16_384),
  bodyBytes: bytes(1_048_576, maxBodyBytes),
  responseBytes: bytes(100_000_000),
  /** All large responses not yet sent; one with content source maps may have 6 %. */
  maxBufferedResponseBytes: fileBytes(500_000_000),
  /** For a client to receive a large response completely. */
  responseTimeout: ms(60_000),
  /** All incomplete request bodies, and form fields other than files, which go to disk. */
  maxBufferedBodyBytes: fileBytes(100_000_000),
  /** All responses that are being compressed or wait for it; further ones are sent uncompressed, and so are uploaded files of more than a 32nd. */
  compressionBytes: bytes(32_000_000),
  /** To receive a request without files; a third of it for the headers. */
  requestTimeout: ms(30_000),
  /** Between two requests of one connection. */
  keepAliveTimeout: ms(65_000),
  /** A tenth of them may be event streams. */
  connections: count(10_000),
})

const readLimits = () => ({
  /** One read, including the wait. A change of the model waits a fifth of it, one or two seconds, for tables that are in use. */
  readTimeout: ms(10_000),
  /** For a read replica to catch up, before the read is executed on the primary. */
  replicaTimeout: msOrZero(50),
  /** Light reads that may wait. */
  readQueue: count(5_000),
  /** From here on a read or write of documents is logged as slow; 0: none is. */
  slowQuery: msOrZero(200),
  /** One write, including the wait. */
  writeTimeout: ms(15_000),
  /** All cached responses, each at most a 64th of it; 0 turns the cache off. */
  cacheBytes: z.int().nonnegative().max(maxBytes).default(64_000_000),
})

const uploadLimits = () => ({
  fileBytes: fileBytes(200_000_000),
  /** A whole form with files, or a body that a route reads as a stream. It may take an hour, or longer at 0.6 MB per second. */
  uploadBytes: fileBytes(2_000_000_000),
  /** Images beyond these limits get no formats. Pixels of all frames, with four bytes for each. */
  imagePixels: count(100_000_000),
  /** Memory of an image process. */
  imageMemory: z.int().min(150_000_000).max(maxImageBytes).default(400_000_000),
  /** CPU time for one image; the image may take twelve times as long. */
  imageCpuTime: ms(5_000, Math.floor(maxMs / timePerCpuTime)),
  imageConcurrency: count(2, 100),
  imageQueue: count(500),
  /** One request to remote storage; a sixth of it without progress, which is the only limit of a download that has begun. */
  storageTimeout: ms(60_000),
})

const administrationLimits = () => ({
  /**
   * Attempts per minute at each route of /auth per IP address and identity (name, e-mail address, code or token), and per IP address for
   * administrators; 0 means no limit at all. Successful sign-ins do not count.
   */
  authRateLimit: countOrZero(10),
  /** Such attempts per IP address with all identities, at least `authRateLimit`; 0 means no limit. */
  authAddressRateLimit: countOrZero(60),
  /** Actions of administrators in the log; the oldest are deleted first. */
  activityEntries: count(100_000),
  /** Between two stored versions of a draft. */
  historyInterval: msOrZero(600_000),
  /** Age of a stored version. */
  historyTime: z.int().positive().default(7_776_000_000),
  /** Versions of a document in a locale. */
  historyVersions: count(200),
  /** Links, entries and files that `/admin/api/…/fill` copies from another locale. `/check` reads a tenth of it, and a hundredth of one relation. */
  copiedLinks: count(10_000),
})

const codeLimits = () => ({
  idempotencyBytes: bytes(64_000_000),
  /** One hook, or one listener and event. */
  hookTimeout: ms(5_000),
  /** For a custom route to return its response (a stream may take longer to send), and for the checks of `/admin/api/doctor`, at least 30 seconds. */
  routeTimeout: ms(30_000),
  /** One run of a schedule. */
  scheduleTimeout: ms(300_000),
})

const eventLimits = () => ({
  /**
   * Events in the outbox, and attempts in the log of webhooks; the oldest are deleted first. Five times as many more events are stored while a
   * listener or webhook waits for them.
   */
  outboxEvents: count(10_000),
  /** Open event streams of one IP address. Defaults to a 500th of `connections`, at least 20. */
  eventStreamsPerAddress: z.int().positive().max(maxCount).optional(),
  /** Files of an imported archive. */
  archiveFiles: count(1_000_000),
  /** An unpacked archive; a line may have a quarter of it, at most 256 MB. */
  archiveBytes: fileBytes(1_000_000_000_000),
  /** Attempts to deliver an event to a webhook. */
  webhookAttempts: count(12, 1_000),
  /** Before the second attempt; later delays grow up to the maximum. */
  webhookRetryDelay: ms(5_000),
  webhookMaxRetryDelay: ms(21_600_000),
  /** One request; 60 % of it to resolve the name of the host. */
  webhookTimeout: ms(10_000, 20_000),
})

const processLimits = () => ({
  /** For a start to check the database file for damage; 0: no check. */
  checkTime: msOrZero(1_000),
  /** A shutdown: three fifths for requests in flight (one for their bodies), the rest for closing the database and threads. */
  drainTimeout: ms(25_000),
  /**
   * Delay before the shutdown: requests are still served while `/_health` reports 503, so that load balancers stop
   * sending traffic. Defaults to 5,000 in production, and to 0 in development or if only this machine can reach the service.
   */
  drainDelay: z.int().min(0).max(maxMs).optional(),
  /** For an additional service process to start. The first one has no limit, because it prepares the project. */
  processStartTimeout: ms(300_000),
})

/** Limits in milliseconds, bytes or counts. */
export const limitSettings = () =>
  z.strictObject({
    ...requestLimits(),
    ...readLimits(),
    ...uploadLimits(),
    ...administrationLimits(),
    ...codeLimits(),
    ...eventLimits(),
    ...processLimits(),
  })
