// Windows over the page, and sheets from its side.
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { classes } from './classes.js'
import styles from './dialog.module.css'
import { IconButton } from './icon-button.js'
import { useWords } from './words.js'

/** A window over the page. */
interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  /** `tall`: large, with a constant height. */
  readonly size?: 'small' | 'medium' | 'large' | 'tall'
  /** After the title, before the button that closes. */
  readonly actions?: ReactNode
  /** Buttons below, the main one last. */
  readonly footer?: ReactNode
  readonly role?: 'dialog' | 'alertdialog'
  /** A press outside does not close it: input would be lost. */
  readonly isKept?: boolean
  /** Neither Escape nor a button closes it. */
  readonly isForced?: boolean
  readonly children: ReactNode
}

function Window({ position, ...props }: DialogProps & { readonly position: 'center' | 'side' }) {
  const { parts } = useWords()
  return (
    <ModalOverlay
      isOpen={props.isOpen}
      onOpenChange={(isOpen) => !isOpen && props.onClose()}
      isDismissable={!props.isKept && !props.isForced}
      isKeyboardDismissDisabled={props.isForced}
      className={classes(styles.shade, styles[position])}
    >
      <Modal className={classes(styles.window, styles[props.size ?? 'medium'])}>
        <AriaDialog className={styles.dialog} role={props.role}>
          <header className={styles.head}>
            <Heading slot="title" className={styles.title}>
              {props.title}
            </Heading>
            {props.actions}
            {!props.isForced && (
              <IconButton label={parts.close} isSmall onPress={props.onClose}>
                <X />
              </IconButton>
            )}
          </header>
          <div className={styles.body}>{props.children}</div>
          {props.footer !== undefined && <footer className={styles.foot}>{props.footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** A window over the page; the focus stays inside and goes back to where it was. */
export const Dialog = (props: DialogProps) => <Window {...props} position="center" />

/** A sheet from the end of the line, over the page. */
export const Panel = (props: DialogProps) => <Window {...props} position="side" />
