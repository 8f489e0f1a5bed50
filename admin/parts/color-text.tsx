// Texts that are colours.
import styles from './color-text.module.css'

/** True for a colour in hexadecimal digits, as in `#0a6e66`. */
export const isColor = (value: unknown): value is string => typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)

/** A sample of a colour. */
export const ColorSample = ({ color }: { readonly color: string }) => (
  <span className={styles.sample} style={{ background: color }} title={color} aria-hidden="true" />
)

/** A text; a colour has a sample of it in front. */
export function ColorText({ text }: { readonly text: string }) {
  if (!isColor(text)) return text
  return (
    <span className={styles.color}>
      <ColorSample color={text} />
      {text}
    </span>
  )
}
