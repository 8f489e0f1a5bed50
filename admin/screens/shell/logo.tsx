// The mark of the product: the folded sheet of an octavo.
import type { ReactNode } from 'react'

/** The mark; its name is in the text next to it. */
export function Logo({ size }: { readonly size: number }): ReactNode {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0b6e69" />
      <path d="M6 9.5h20v13H6zM6 16h20M11 9.5v13M16 9.5v13M21 9.5v13" fill="none" stroke="#fff" strokeWidth="1.6" strokeLinejoin="round" />
    </svg>
  )
}
