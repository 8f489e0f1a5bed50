// The editor screen.
import type { ReactNode } from 'react'

export default function EditorScreen({ type, document }: { readonly type: string; readonly document: string | null }): ReactNode {
  return (
    <h1>
      {type} {document}
    </h1>
  )
}
