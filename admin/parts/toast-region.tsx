// The landmark with the messages, and their queue.
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import { useEffect } from 'react'
import {
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as AriaToastContent,
  UNSTABLE_ToastQueue as AriaToastQueue,
  UNSTABLE_ToastRegion as AriaToastRegion,
  Text,
} from 'react-aria-components/Toast'
import { Button } from './button.js'
import { classes } from './classes.js'
import { IconButton } from './icon-button.js'
import type { ToastOptions } from './toasts.js'
import styles from './toasts.module.css'
import { useWords } from './words.js'

/** A message with its text. */
export interface Message extends ToastOptions {
  readonly text: string
  /** Time of `performance.now()`. */
  readonly since: number
}

/** Messages shown at once; further ones wait. */
const mostShown = 3

/** Milliseconds until a message closes by itself; it waits while the pointer or the focus is on it. */
const shownFor = 6000

const queue = new AriaToastQueue<Message>({ maxVisibleToasts: mostShown })

/** Milliseconds within which a message may belong to the next screen, such as after a deletion. */
const isNewFor = 3_000

function closePassing(isOver: (message: Message) => boolean): void {
  for (const { key, timeout, content } of queue.visibleToasts) if (timeout !== undefined && isOver(content)) queue.close(key)
}

/** Shows a message, which replaces those that would close by themselves; the returned function takes it away. */
export function show(given: Omit<Message, 'since'>): () => void {
  closePassing(() => true)
  const message = { ...given, since: performance.now() }
  const stays = message.isKept || message.kind === 'wrong' || message.action !== undefined
  const key = queue.add(message, stays ? {} : { timeout: shownFor })
  return () => queue.close(key)
}

const icons = { info: Info, good: CircleCheck, wrong: CircleAlert }

/** The landmark with the messages; once on the page. Another location ends those that would close by themselves. */
export function ToastRegion({ location }: { readonly location: string }) {
  const { parts } = useWords()
  useEffect(() => {
    closePassing(({ since }) => location !== '' && since < performance.now() - isNewFor)
  }, [location])
  return (
    <AriaToastRegion queue={queue} className={styles.region} aria-label={parts.notification}>
      {({ toast }) => {
        const { text, kind = 'info', action } = toast.content
        const Icon = icons[kind]
        return (
          <AriaToast toast={toast} className={classes(styles.toast, styles[kind])}>
            <Icon size={18} className={styles.icon} aria-hidden="true" />
            <AriaToastContent className={styles.text}>
              <Text slot="title">{text}</Text>
            </AriaToastContent>
            {action !== undefined && (
              <Button
                kind="quiet"
                isSmall
                onPress={() => {
                  action.onPress()
                  queue.close(toast.key)
                }}
              >
                {action.label}
              </Button>
            )}
            <IconButton slot="close" label={parts.close} isSmall onPress={() => queue.close(toast.key)}>
              <X />
            </IconButton>
          </AriaToast>
        )
      }}
    </AriaToastRegion>
  )
}
