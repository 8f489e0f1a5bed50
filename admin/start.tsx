// The entry of the page: the policy for markup, then the first screen.
import './look/tokens.css'
import './look/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

// React Aria empties its live region with `innerHTML = ''`; every other markup from a string is refused.
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): void } }
trustedTypes?.createPolicy('default', { createHTML: (html: string) => (html === '' ? '' : null) })

createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <main>
      <h1>Octavo</h1>
    </main>
  </StrictMode>,
)
