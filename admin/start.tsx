// The entry of the page: the policy for markup, the providers, and the first screen.
import './look/tokens.css'
import './look/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { pagePath } from './addresses.js'
import { PartsProvider } from './parts/parts-provider.js'
import { Page } from './screens/shell/page.js'
import { applyPreferences } from './screens/shell/preferences.js'
import { createQueryClient } from './server/queries.js'

// React Aria empties its live region with `innerHTML = ''`; every other markup from a string is refused.
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): void } }
trustedTypes?.createPolicy('default', { createHTML: (html: string) => (html === '' ? '' : null) })

applyPreferences()
const queries = createQueryClient()

createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={pagePath}>
        <PartsProvider>
          <Page />
        </PartsProvider>
      </Router>
    </QueryClientProvider>
  </StrictMode>,
)
