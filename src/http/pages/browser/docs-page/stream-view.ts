// A response that does not end: server-sent events, shown as they arrive for as long as they are on the page.
import { h } from './elements.js'

/** Characters that are shown; older ones go. */
const most = 50_000

/** Shows a stream. It is closed once something else takes its place on the page, or on a click. */
export function streamView(response: Response): HTMLElement {
  const text = h('pre', { class: 'code', tabindex: 0 })
  const stop = h('button', { type: 'button', click: () => end() }, 'Close the stream')
  const element = h('div', {}, stop, text)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let isOver = false
  function end(): void {
    isOver = true
    stop.hidden = true
    clearInterval(look)
    reader.cancel().catch(() => undefined)
  }
  let wasShown = false
  const look = setInterval(() => {
    if (wasShown && !element.isConnected) end()
    wasShown ||= element.isConnected
  }, 500)
  async function show(): Promise<void> {
    while (!isOver) {
      const { done, value } = await reader.read()
      if (done) return
      text.textContent = (text.textContent + value).slice(-most)
    }
  }
  show()
    .catch(() => undefined)
    .finally(end)
  return element
}
