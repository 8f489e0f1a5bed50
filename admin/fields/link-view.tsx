// A linked document as one line: its picture, its name with further values, language, and state.
import type { Entry } from '../form/values.js'
import { ColorSample } from '../parts/color-text.js'
import { State } from '../parts/state.js'
import { useWords } from '../parts/words.js'
import { linkLine, linkName, linkState } from './link-name.js'
import styles from './link-view.module.css'

/** A linked document. `documentLocale`: the language around it, which is not repeated. */
export function LinkView({ link, documentLocale }: { readonly link: Entry; readonly documentLocale: string | null }) {
  const words = useWords().fields.relation
  const { thumbnail, locale } = link as { readonly thumbnail?: { readonly url?: unknown } | null; readonly locale?: string | null }
  const state = linkState(link)
  const { line, color } = linkLine(link)
  const isForeign = typeof locale === 'string' && locale !== documentLocale
  return (
    <span className={styles.link}>
      {typeof thumbnail?.url === 'string' && <img className={styles.picture} src={thumbnail.url} alt="" loading="lazy" />}
      <span className={styles.text}>
        <span className={styles.name} lang={locale ?? undefined} dir="auto">
          {color !== undefined && <ColorSample color={color} />}
          {linkName(link, words.unnamed)}
        </span>
        {(state !== undefined || line !== '' || isForeign) && (
          <span className={styles.line}>
            {state !== undefined && <State state={state} isQuiet />}
            {isForeign && <span className={styles.locale}>{locale}</span>}
            {line !== '' && (
              <span className={styles.values} lang={locale ?? undefined} dir="auto">
                {line}
              </span>
            )}
          </span>
        )}
      </span>
    </span>
  )
}
