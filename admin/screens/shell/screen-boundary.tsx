// An error in one screen leaves the rest of the page usable.
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { Component, type ReactNode, Suspense } from 'react'

interface BoundaryProps {
  readonly children: ReactNode
  readonly onRetry: () => void
}

class Boundary extends Component<BoundaryProps, { readonly error: Error | null }> {
  override state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const retry = () => {
      this.props.onRetry()
      this.setState({ error: null })
    }
    return (
      <div role="alert">
        <h1>{error.message}</h1>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </div>
    )
  }
}

/** Shows the screen, or its error with a button that shows it again. */
export function ScreenBoundary({ children }: { readonly children: ReactNode }): ReactNode {
  const { reset } = useQueryErrorResetBoundary()
  return (
    <Boundary onRetry={reset}>
      <Suspense>{children}</Suspense>
    </Boundary>
  )
}
