// An error in one screen leaves the rest of the page usable.
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ReactNode, Suspense } from 'react'
import { useLocation } from 'wouter'
import { addresses } from '../../addresses.js'
import { ErrorBoundary, ErrorState } from '../../parts/error-state.js'
import { Hidden } from '../../parts/hidden.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useWords } from '../../parts/words.js'
import { ApiFailure } from '../../server/client.js'
import styles from './shell.module.css'

/** A screen that cannot be shown, and a button that tries again, or leads home where that is in vain. */
export function FailedScreen({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }): ReactNode {
  const { shell } = useWords()
  const [, navigate] = useLocation()
  const goHome = () => {
    navigate(addresses.home())
    onRetry()
  }
  const status = error instanceof ApiFailure ? error.status : null
  const [title, text] =
    status === 403
      ? [shell.notAllowed, shell.notAllowedText]
      : status === 404
        ? [shell.notFound, shell.notFoundText]
        : [shell.screenFailed, shell.screenFailedText]
  return (
    <div className={styles.failed}>
      <h1>
        <Hidden>{title}</Hidden>
      </h1>
      {status === 403 || status === 404 ? (
        <ErrorState title={title} text={text} action={shell.home} onRetry={goHome} />
      ) : (
        <ErrorState title={title} text={text} onRetry={onRetry} />
      )}
    </div>
  )
}

/** Shows the screen, an outline while it loads, or its error with a button that shows it again. */
export function ScreenBoundary({ children }: { readonly children: ReactNode }): ReactNode {
  const { reset } = useQueryErrorResetBoundary()
  const failed = (error: Error, retry: () => void) => {
    const onRetry = () => {
      reset()
      retry()
    }
    return <FailedScreen error={error} onRetry={onRetry} />
  }
  return (
    <ErrorBoundary fallback={failed}>
      <Suspense
        fallback={
          <div className={styles.loading}>
            <Skeleton lines={6} />
          </div>
        }
      >
        {children}
      </Suspense>
    </ErrorBoundary>
  )
}
