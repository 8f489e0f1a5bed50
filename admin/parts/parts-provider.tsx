// Providers for the parts: texts, languages of React Aria, addresses of links, and messages.
import { type ReactNode, Suspense } from 'react'
import { RouterProvider } from 'react-aria-components'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { useLocation, useRouter } from 'wouter'
import { useToastRegion } from './toasts.js'
import { useLanguage, WordsProvider } from './words.js'

function WithLanguage({ children }: { readonly children: ReactNode }) {
  const [language] = useLanguage()
  const [location, navigate] = useLocation()
  const { base } = useRouter()
  const ToastRegion = useToastRegion()
  return (
    <I18nProvider locale={language === 'de' ? 'de-DE' : 'en-US'}>
      <RouterProvider navigate={navigate} useHref={(href) => (href.startsWith('/') ? base + href : href)}>
        {children}
        {ToastRegion !== null && <ToastRegion location={location} />}
      </RouterProvider>
    </I18nProvider>
  )
}

/** Surrounds the page, inside wouter's Router: everything in `parts/` works inside it. */
export function PartsProvider({ children }: { readonly children: ReactNode }) {
  return (
    <Suspense>
      <WordsProvider>
        <WithLanguage>{children}</WithLanguage>
      </WordsProvider>
    </Suspense>
  )
}
