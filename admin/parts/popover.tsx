// Something small that opens at a button, with its own focus.
import type { ReactElement, ReactNode } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog'
import { Popover as AriaPopover, type Placement } from 'react-aria-components/Popover'
import styles from './popover.module.css'

/** Something that opens at its button. */
interface PopoverProps {
  /** A Button or IconButton. */
  readonly trigger: ReactElement
  readonly label: string
  readonly placement?: Placement
  readonly isOpen?: boolean
  readonly onOpenChange?: (isOpen: boolean) => void
  readonly children: ReactNode | ((close: () => void) => ReactNode)
}

/** Something that opens at its button; Escape closes it and gives the focus back. */
export function Popover({ trigger, label, placement = 'bottom start', isOpen, onOpenChange, children }: PopoverProps) {
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={onOpenChange}>
      {trigger}
      <AriaPopover className={styles.popover} placement={placement} offset={4} containerPadding={innerWidth > 640 ? 24 : 12}>
        <Dialog aria-label={label} className={styles.dialog}>
          {({ close }) => (typeof children === 'function' ? children(close) : children)}
        </Dialog>
      </AriaPopover>
    </DialogTrigger>
  )
}
