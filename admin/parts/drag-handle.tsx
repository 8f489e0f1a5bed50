// The handle of an item that can be moved.
import { GripVertical } from 'lucide-react'
import styles from './drag-handle.module.css'
import type { Sortable } from './sortable.js'

/** A handle; spread `sortable.handle(id)` on it. */
export const DragHandle = (props: ReturnType<Sortable['handle']>) => (
  <button type="button" className={styles.handle} {...props}>
    <GripVertical size={16} aria-hidden="true" />
  </button>
)
