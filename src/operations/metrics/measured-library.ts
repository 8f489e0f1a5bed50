// A media library whose stored files are counted.

import type { Library } from '../../content/media/library.js'
import type { Received } from '../../content/media/receive.js'
import type { Metrics } from '../../foundation/runtime/metrics.js'
import { resultOf } from './measured-limiter.js'

/** The same library, counted. */
export function measuredLibrary(library: Library, metrics: Metrics): Library {
  const counted = async <Result>(files: readonly Received[], store: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await store()
      metrics.filesStored(
        files.length,
        files.reduce((sum, { bytes }) => sum + bytes, 0),
      )
      return result
    } catch (error) {
      metrics.filesNotStored(files.length, resultOf(error))
      throw error
    }
  }
  return {
    ...library,
    add: (files, infos, link, scope) => counted(files, () => library.add(files, infos, link, scope)),
    replace: (id, file, info, scope) => counted([file], () => library.replace(id, file, info, scope)),
  }
}
