// Uids: they follow their source until they are edited by hand, and never after the first publication.
import { RefreshCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { joinPath, parentPath } from '../form/paths.js'
import { textOf } from '../form/values.js'
import { announce } from '../parts/announce.js'
import { Button } from '../parts/button.js'
import { IconButton } from '../parts/icon-button.js'
import { TextInput } from '../parts/text-input.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { type DocumentFields, type FieldProps, useDocumentFields } from './document.js'
import styles from './uid.module.css'

/** Milliseconds without a change before the service is asked. */
const pause = 400

async function freeUid({ type, document }: DocumentFields, attribute: string, text: string, signal: AbortSignal): Promise<string> {
  const body = { text, ...(document === null ? {} : { document }) }
  const { data } = await request('POST', '/uid/{type}/{attribute}', { path: { type: type.uid, attribute }, body, signal })
  return data.uid
}

/** A uid with its source. The API makes uids of documents alone, not of components. */
export function UidField(props: FieldProps) {
  const { path, attribute } = props
  const target = typeof attribute.targetField === 'string' ? attribute.targetField : null
  const source = target === null ? null : joinPath(parentPath(path), target)
  return <UidInput {...props} source={path.includes('/') ? null : source} />
}

function UidInput({ control, path, name, isReadOnly, placeholder, source }: FieldProps & { readonly source: string | null }) {
  const document = useDocumentFields()
  const { store } = document
  const words = useWords().fields.uid
  const value = textOf(useValue(store, path))
  const [suggestion, setSuggestion] = useState<string | null>(null)
  const isFollowing = useFollowing(document, { path, name, source, isReadOnly })
  const isAtRoot = !path.includes('/')
  const { lang: _, dir: __, ...described } = control

  useLater(
    value,
    isAtRoot && !isReadOnly && !isFollowing.current && value !== textOf(store.baseAt(path)) && value !== '',
    async (signal) => {
      const free = await freeUid(document, name, value, signal)
      setSuggestion(free === value ? null : free)
    },
  )

  const make = async () => {
    const text = source === null ? '' : textOf(store.get(source))
    const made = await freeUid(document, name, text, new AbortController().signal).catch(() => null)
    if (made === null) return
    isFollowing.current = !document.isPublished && source !== null
    store.set(path, made)
    announce(words.made(made))
  }
  return (
    <div className={styles.uid}>
      <TextInput
        {...described}
        dir="ltr"
        isCode
        spellCheck={false}
        autoComplete="off"
        value={value}
        placeholder={placeholder}
        readOnly={isReadOnly}
        onChange={(text) => {
          isFollowing.current = false
          setSuggestion(null)
          store.set(path, text === '' ? null : text)
        }}
        end={
          isReadOnly || !isAtRoot ? undefined : (
            <IconButton isSmall label={source === null ? words.make : words.makeFromSource} onPress={() => void make()}>
              <RefreshCw size={14} aria-hidden="true" />
            </IconButton>
          )
        }
      />
      {suggestion !== null && suggestion !== value && (
        <p className={styles.taken} role="status">
          {words.taken}{' '}
          <Button
            kind="quiet"
            isSmall
            onPress={() => {
              store.set(path, suggestion)
              setSuggestion(null)
            }}
          >
            {words.use(suggestion)}
          </Button>
        </p>
      )}
    </div>
  )
}

/** Runs a request once the text has not changed for a while. Failures are ignored. */
function useLater(text: string, isWanted: boolean, run: (signal: AbortSignal) => Promise<void>): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (!isWanted) return
    const controller = new AbortController()
    const timer = setTimeout(() => void latest.current(controller.signal).catch(() => {}), pause)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text, isWanted])
}

interface Following {
  readonly path: string
  readonly name: string
  readonly source: string | null
  readonly isReadOnly: boolean
}

/** Generates the uid again when the source changes, unless it was edited by hand. */
function useFollowing(document: DocumentFields, { path, name, source, isReadOnly }: Following) {
  const { store, isPublished } = document
  const text = textOf(useValue(store, source ?? path))
  const [initial] = useState({ text, uid: textOf(store.get(path)) })
  const isFollowing = useRef<boolean | null>(initial.uid === '' ? true : initial.text === '' ? false : null)
  const isPossible = source !== null && !isPublished && !isReadOnly
  useLater(text, isPossible && isFollowing.current !== false && text !== '' && text !== initial.text, async (signal) => {
    // A uid that was stored follows if it is the one of its source.
    isFollowing.current ??= (await freeUid(document, name, initial.text, signal)) === initial.uid
    if (!isFollowing.current) return
    const made = await freeUid(document, name, text, signal)
    if (isFollowing.current) store.set(path, made, { isTyping: true })
  })
  return isFollowing
}
