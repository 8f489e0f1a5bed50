// A modal window by the browser: the rest of the page is inert, Escape closes it, and the focus returns.
import { type ReactNode, useEffect, useRef } from 'react'
import { useSession } from './session.js'

interface NativeDialogProps {
  readonly label: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A window that is open while it is drawn, and hidden while there is no session. */
export function NativeDialog({ label, className, onClose, children }: NativeDialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  // It would cover the dialog that asks for the password.
  const isSignedIn = useSession().kind === 'signedIn'
  useEffect(() => {
    if (!isSignedIn) return
    const element = dialog.current!
    const before = document.activeElement
    element.showModal()
    return () => {
      element.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [isSignedIn])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it
    <dialog
      ref={dialog}
      className={className}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // A press on the dialog itself is outside of its content.
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {children}
    </dialog>
  )
}
