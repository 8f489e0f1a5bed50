// The mount of the administration API. Its code is apart, for services without it.

import { onceDone } from '../../../foundation/runtime/once-done.js'
import type { HandleAdministration } from '../../admin/handle.js'
import type { MountContext } from '../../backend.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

const prefix = '/admin/api'

/** The administration API. */
export function administrationMount(parts: MountContext): Mount {
  const open = onceDone(async (): Promise<HandleAdministration> => {
    const { openHandling } = await import('../../admin/handle.js')
    return openHandling(parts, prefix)
  })
  return {
    ...{ prefix, secret: [], unlogged: [] },
    addTo: (app) => {
      app.route({
        method: everyMethod,
        url: `${prefix}/*`,
        handler: async (request, reply) => (await open())(request, reply, pathOf(request.raw.url ?? '')),
      })
    },
    methodsAt: () => readMethods,
  }
}

/** The path of a URL below the prefix, still encoded. */
const pathOf = (url: string): string => url.split('?', 1)[0]!.slice(prefix.length)
