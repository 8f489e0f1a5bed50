// Progress of a task.
import styles from './progress.module.css'
import { useFormat } from './words.js'

/** A bar for a task of known or unknown length. */
export function Progress({ label, value, max }: { readonly label: string; readonly value?: number; readonly max?: number }) {
  const format = useFormat()
  const share = value === undefined || !max ? undefined : Math.min(value / max, 1)
  return (
    <progress
      className={styles.progress}
      aria-label={label}
      value={share}
      max={1}
      aria-valuetext={share === undefined ? undefined : format.percent(share)}
    />
  )
}
