// The preview of a document next to its form: the page on the website is updated on each save, and a click on a text focuses its field.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ExternalLink, Monitor, RotateCw, Smartphone, Tablet, X } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { connectPreview } from '../../../packages/client/preview.js'
import { labelOf } from '../../fields/document.js'
import { useSaver } from '../../form/hooks.js'
import { buttonClass } from '../../parts/button.js'
import { useMedia } from '../../parts/device.js'
import { Panel } from '../../parts/dialog.js'
import { ErrorState } from '../../parts/error-state.js'
import { IconButton } from '../../parts/icon-button.js'
import { useToasts } from '../../parts/toasts.js'
import { useWords } from '../../parts/words.js'
import { readQuery } from '../../server/queries.js'
import type { DocumentForm } from './document-form.js'
import styles from './editor.module.css'
import { fieldOf, readMessage } from './preview-messages.js'

interface PreviewPaneProps {
  readonly form: DocumentForm
  readonly document: string
  readonly onGo: (path: string) => void
  readonly onClose: () => void
}

type Width = 'phone' | 'tablet' | 'full'

/** The script for pages that expect Strapi's: clicks focus fields; the page handles updates itself. */
const scriptOf = (origin: string): string => `(${connectPreview})({origin:${JSON.stringify(origin)},onUpdate(){}})`

/** The preview of a document: a column, or a window over a narrow page. */
export function PreviewPane({ form, document, onGo, onClose }: PreviewPaneProps): ReactNode {
  const words = useWords().editor.preview
  const { say } = useToasts()
  const frame = useRef<HTMLIFrameElement>(null)
  const [width, setWidth] = useState<Width>('full')
  const [loads, setLoads] = useState(0)
  const isNarrow = useMedia('(max-width: 900px)')
  const { revision } = useSaver(form.saver)
  const { data, error } = useAddress(form, document, revision)
  const url = data?.url == null ? null : new URL(data.url, location.origin)
  // A page of this service gets an opaque origin in its frame, since it could act as the administrator.
  const isOwn = url?.origin === location.origin
  const reload = () => setLoads((count) => count + 1)
  const onField = (path: string | null) => {
    if (path === null) return void say(words.elsewhere)
    if (isNarrow) onClose()
    onGo(path)
  }
  useConversation({
    form,
    frame,
    page: `${loads} ${url?.href}`,
    origins: isOwn ? ['null'] : (data?.origins ?? []),
    revision,
    reload,
    onField,
  })
  const bar = (
    <>
      {(['phone', 'tablet', 'full'] as const).map((one) => (
        <IconButton key={one} isSmall label={words[one]} isOn={width === one} onPress={() => setWidth(one)}>
          {one === 'phone' ? <Smartphone /> : one === 'tablet' ? <Tablet /> : <Monitor />}
        </IconButton>
      ))}
      <IconButton isSmall label={words.reload} onPress={reload}>
        <RotateCw />
      </IconButton>
      {url !== null && (
        <a href={url.href} target="_blank" rel="noopener noreferrer" className={buttonClass('quiet', true)} aria-label={words.newWindow}>
          <ExternalLink size={16} aria-hidden="true" />
        </a>
      )}
    </>
  )
  const content = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a page wider than the column is scrolled by keys, too
    <section className={styles.previewSpace} tabIndex={0} aria-label={words[width]}>
      {error !== null ? (
        <ErrorState text={error.message} />
      ) : url === null ? (
        data !== undefined && <p>{data.missing === null ? words.none : words.missing(labelOf(form.type.layout, data.missing))}</p>
      ) : (
        <iframe
          key={loads}
          ref={frame}
          src={url.href}
          title={words.title}
          className={styles.previewFrame}
          data-width={width}
          sandbox={`allow-scripts allow-forms allow-popups${isOwn ? '' : ' allow-same-origin'}`}
        />
      )}
    </section>
  )
  if (isNarrow)
    return (
      <Panel isOpen onClose={onClose} title={words.title} size="large" actions={bar}>
        {content}
      </Panel>
    )
  return (
    <aside className={styles.preview} aria-label={words.title} data-region="panel">
      <div className={styles.previewBar}>
        <h2>{words.title}</h2>
        <span className={styles.spring} />
        {bar}
        <IconButton isSmall label={words.close} onPress={onClose}>
          <X />
        </IconButton>
      </div>
      {content}
    </aside>
  )
}

/** The address of the draft, requested again after each save. */
function useAddress({ type, locale }: DocumentForm, document: string, revision: string | null) {
  const query = readQuery('/content/{type}/{document}/preview', {
    path: { type: type.uid, document },
    query: locale === null ? {} : { locale },
  })
  const { data, error } = useQuery({ ...query, queryKey: [...query.queryKey, revision] as never, placeholderData: keepPreviousData })
  return { data: data?.data, error }
}

interface Conversation {
  readonly form: DocumentForm
  readonly frame: RefObject<HTMLIFrameElement | null>
  /** Changes with each load. */
  readonly page: string
  /** Origins whose messages are accepted. */
  readonly origins: readonly string[]
  readonly revision: string | null
  readonly reload: () => void
  readonly onField: (path: string | null) => void
}

/** Exchanges messages with the page in the frame and announces each save; a page that does not listen is reloaded. */
function useConversation(given: Conversation): void {
  const latest = useRef(given)
  useEffect(() => {
    latest.current = given
  })
  /** The origin of the page, once it listens. */
  const listening = useRef<string>(null)
  const post = (message: object) => {
    // An opaque origin can only be addressed by `*`; the messages contain nothing of the document.
    const target = listening.current === 'null' ? '*' : listening.current
    if (target !== null) latest.current.frame.current?.contentWindow?.postMessage(message, target)
  }
  useEffect(() => {
    const listen = ({ source, origin, data }: MessageEvent): void => {
      const { form, frame, origins, onField } = latest.current
      if (source === null || source !== frame.current?.contentWindow || !origins.includes(origin)) return
      const message = readMessage(data)
      if (message?.kind === 'field') onField(fieldOf(form, message))
      if (message?.kind !== 'ready') return
      listening.current = origin
      if (!message.isConnected) post({ type: 'strapiScript', payload: { script: scriptOf(location.origin) } })
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  })
  const { revision, page } = given
  useEffect(() => {
    listening.current = null
  }, [page])
  const shown = useRef(revision)
  useEffect(() => {
    if (shown.current === revision) return
    shown.current = revision
    if (listening.current === null) latest.current.reload()
    else post({ type: 'strapiUpdate' })
  })
}
