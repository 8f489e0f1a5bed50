// Builds the page at /admin into dist/admin; `npm run page` serves it with the API of a service on port 1337.
import locales from '@react-aria/optimize-locales-plugin'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** A library in CommonJS that the entry needs and windows too; a group takes what its modules import, and would bring windows to sign-in. */
const isStore = /use-sync-external-store/

const isCommon =
  /lucide-react|react-query|query-core|LocalizedString|components.dist.private.Text|admin.(?:parts.(?!dialog|alert-dialog|menu|select|popover|combo-box|toasts|disclosure|relative-time)|server(?!.presence)|screens.shell.logo|words|addresses)/

/** Dialogs, and small modules shared by the signed-in screens. */
const isOfShell =
  /lucide-react|admin.(?:parts.(?:dialog|alert-dialog|menu|relative-time|color-text)|screens.shell.(?:title|actions)|server.presence|screens.list.list.module)/

/** Links are found by the editor and by the filters of lists; these small modules compress better with them than alone. */
const isOfLinks =
  /admin.(?:form.values|fields.(?:document|date-values|summaries|link-name|link-view|error-text|file-card)|screens.editor.(?:values-as-text|presence|path-labels|editor.module)|parts.(?:number-input|progress|select|combo-box|safe-links))\./

const service = 'http://localhost:1337'

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the service writes its own path into the page.
  base: './',
  // React Aria brings more than thirty languages.
  plugins: [{ ...locales.vite({ locales: ['en-US', 'de-DE'] }), enforce: 'pre' }, react()],
  // No data: addresses and no inline code, which the policy of the page refuses.
  build: {
    outDir: '../dist/admin',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    // Browsers with `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    // Small modules that most screens share are one file instead of forty; parts that open windows stay with the screens that need them.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'stores', test: isStore },
            { name: 'common', test: isCommon, minShareCount: 3, maxModuleSize: 40_000 },
            { name: 'windows', test: isOfShell, minShareCount: 2 },
            { name: 'links', test: isOfLinks, minShareCount: 2 },
          ],
        },
      },
    },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // The API compares Origin with Host: `changeOrigin` stays off.
  server: { proxy: { '/admin/api': service, '/uploads': service, '/favicon.svg': service } },
})
