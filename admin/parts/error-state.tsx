// Texts for failed loads and failed drawing.
import { CloudAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Button } from './button.js'
import { EmptyState } from './empty-state.js'
import { useWords } from './words.js'

/** A failed load, with a button to try again. */
interface ErrorStateProps {
  readonly title?: string
  readonly text?: ReactNode
  readonly onRetry?: () => void
  /** Label of the button. */
  readonly action?: string
  readonly isBusy?: boolean
}

/** Says that something could not be loaded, and offers to try again. */
export function ErrorState({ title, text, onRetry, action, isBusy }: ErrorStateProps) {
  const { parts } = useWords()
  return (
    <div role="alert">
      <EmptyState icon={<CloudAlert />} title={title ?? parts.errorTitle} text={text ?? parts.errorText}>
        {onRetry !== undefined && (
          <Button onPress={onRetry} isBusy={isBusy}>
            {action ?? parts.retry}
          </Button>
        )}
      </EmptyState>
    </div>
  )
}

function Broken() {
  const { parts } = useWords()
  return <ErrorState title={parts.brokenTitle} text={parts.brokenText} action={parts.reload} onRetry={() => location.reload()} />
}

interface ErrorBoundaryProps {
  /** Drawn in place of the children after an error; `retry` draws them again. */
  readonly fallback?: (error: Error, retry: () => void) => ReactNode
  readonly children: ReactNode
}

/** Keeps an error of one screen or field from the rest of the page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: Error | null }> {
  override state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return this.props.fallback?.(error, () => this.setState({ error: null })) ?? <Broken />
  }
}
