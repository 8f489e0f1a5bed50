// The list screen.
import type { ReactNode } from 'react'

export default function ListScreen({ type }: { readonly type: string }): ReactNode {
  return <h1>{type}</h1>
}
