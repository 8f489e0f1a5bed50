// The compare screen.
import type { ReactNode } from 'react'

export default function CompareScreen({ type, document }: { readonly type: string; readonly document: string }): ReactNode {
  return (
    <h1>
      {type} {document}
    </h1>
  )
}
