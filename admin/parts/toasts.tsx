// Messages at the bottom of the page, without a better position.
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import {
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as AriaToastContent,
  UNSTABLE_ToastQueue as AriaToastQueue,
  UNSTABLE_ToastRegion as AriaToastRegion,
  Text,
} from 'react-aria-components/Toast'
import { Button } from './Button.js'
import { classes } from './classes.js'
import { IconButton } from './IconButton.js'
import styles from './toasts.module.css'
import { useWords } from './words.js'

/** Kind of a message, by colour and icon. */
export type ToastKind = 'info' | 'good' | 'wrong'

/** Options of a message. */
export interface ToastOptions {
  readonly kind?: ToastKind
  readonly action?: { readonly label: string; readonly onPress: () => void }
  /** Stays until it is closed; errors always do. */
  readonly isKept?: boolean
}

/** Ways to show messages. */
export interface Toasts {
  /** Shows a message; the returned function takes it away. */
  readonly say: (text: string, options?: ToastOptions) => () => void
}

interface Message extends ToastOptions {
  readonly text: string
}

/** Messages shown at once; further ones wait. */
const mostShown = 3

/** Milliseconds until a message closes by itself; it waits while the pointer or the focus is on it. */
const shownFor = 6000

const queue = new AriaToastQueue<Message>({ maxVisibleToasts: mostShown })

/** Messages outside of components; inside, `useToasts()`. */
export const toasts: Toasts = {
  say: (text, options = {}) => {
    const stays = options.isKept || options.kind === 'wrong' || options.action !== undefined
    const key = queue.add({ text, ...options }, stays ? {} : { timeout: shownFor })
    return () => queue.close(key)
  },
}

/** Ways to show messages at the bottom of the page. */
export const useToasts = (): Toasts => toasts

const icons = { info: Info, good: CircleCheck, wrong: CircleAlert }

/** The landmark with the messages; once on the page. */
export function ToastRegion() {
  const { parts } = useWords()
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
