// The home screen.
import type { ReactNode } from 'react'

export default function HomeScreen(): ReactNode {
  return <h1>Home</h1>
}
