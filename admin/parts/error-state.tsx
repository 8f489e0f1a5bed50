// Texts for failed loads and failed drawing.
import { CloudAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Button } from './button.js'
import { EmptyState } from './empty-state.js'
import { useWords } from './words.js'

/** A failed load, with a button to try again. */
export interface ErrorStateProps {
  readonly title?: string
  readonly text?: ReactNode
  readonly onRetry?: () => void
  readonly isBusy?: boolean
}

/** Says that something could not be loaded, and offers to try again. */
export function ErrorState({ title, text, onRetry, isBusy }: ErrorStateProps) {
  const { parts } = useWords()
  return (
    <div role="alert">
      <EmptyState icon={<CloudAlert />} title={title ?? parts.errorTitle} text={text ?? parts.errorText}>
        {onRetry !== undefined && (
          <Button onPress={onRetry} isBusy={isBusy}>
            {parts.retry}
          </Button>
        )}
      </EmptyState>
    </div>
  )
}

function Broken() {
  const { parts } = useWords()
  return (
    <div role="alert">
      <EmptyState icon={<CloudAlert />} title={parts.brokenTitle} text={parts.brokenText}>
        <Button onPress={() => location.reload()}>{parts.reload}</Button>
      </EmptyState>
    </div>
  )
}

/** Keeps an error of one screen or field from the rest of the page; a new `resetKey` draws it again. */
export class ErrorBoundary extends Component<
  { readonly resetKey?: string; readonly fallback?: ReactNode; readonly children: ReactNode },
  { readonly failedKey: string | undefined; readonly hasFailed: boolean }
> {
  override state = { failedKey: undefined as string | undefined, hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidCatch() {
    this.setState({ failedKey: this.props.resetKey })
  }

  override componentDidUpdate() {
    if (this.state.hasFailed && this.state.failedKey !== undefined && this.state.failedKey !== this.props.resetKey)
      this.setState({ hasFailed: false, failedKey: undefined })
  }

  override render() {
    return this.state.hasFailed ? (this.props.fallback ?? <Broken />) : this.props.children
  }
}
