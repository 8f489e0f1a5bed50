// The position of this tab: its document and field, reported to the service while the document is open.
import { request } from './client.js'
import { pagePath } from './page-path.js'
import { accessToken } from './session.js'

/** Names this tab among those of its administrator. */
export const tabId = globalThis.crypto?.randomUUID?.() ?? `tab-${Math.random().toString(36).slice(2)}`

/** Reports are repeated within 45 seconds, or the tab counts as gone. */
const repeatMs = 20_000
/** Pause before a change of the field is reported. */
const settleMs = 400

/** A document that this tab has open. */
interface OpenPresence {
  /** Reports the path of the attribute with the focus, such as `sections.0.title`, and its language; null: none. */
  at(field: string | null, locale: string | null): void
  close(): void
}

/** Reports that this tab has a document open, until it is closed. A tab is at one document. */
export function openPresence(type: string, document: string, locale: string | null): OpenPresence {
  let field: string | null = null
  let shown = locale
  let settle: ReturnType<typeof setTimeout> | undefined
  const report = (): void => {
    // Presence is a courtesy: a failed report is repeated with the next one.
    request('POST', '/presence', { body: { type, document, locale: shown, field, tab: tabId } }).catch(() => {})
  }
  const repeat = setInterval(() => globalThis.document.visibilityState === 'visible' && report(), repeatMs)
  addEventListener('pagehide', leave)
  report()
  return {
    at: (next, nextLocale) => {
      if (next === field && nextLocale === shown) return
      field = next
      shown = nextLocale
      clearTimeout(settle)
      settle = setTimeout(report, settleMs)
    },
    close: () => {
      clearInterval(repeat)
      clearTimeout(settle)
      removeEventListener('pagehide', leave)
      leave()
    },
  }
}

function leave(): void {
  void accessToken().then((token) => {
    if (token === null) return
    const headers = { authorization: `Bearer ${token}` }
    return fetch(`${pagePath}/api/presence/${tabId}`, { method: 'DELETE', headers, keepalive: true }).catch(() => {})
  })
}
