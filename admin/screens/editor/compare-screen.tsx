// Two versions of a document, compared.
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { addresses } from '../../addresses.js'
import type { Entry } from '../../form/values.js'
import { CheckBox } from '../../parts/check-box.js'
import { Select } from '../../parts/select.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useFormat, useWords } from '../../parts/words.js'
import { documentQuery, typeQuery } from '../../server/queries.js'
import { readQuery } from '../../server/query-string.js'
import { Comparison, type Side } from './comparison.js'
import type { TypeDescription } from './document-form.js'
import type { DocumentView } from './document-network.js'
import styles from './editor.module.css'
import { nameOfDocument } from './path-labels.js'

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Compares two of draft and public version in the languages of a document. */
export default function CompareScreen({ type, document }: { readonly type: string; readonly document: string }): ReactNode {
  const words = useWords().editor
  const given = readQuery(useSearch())
  const locale = text(given.locale)
  const { data: description, error: typeError } = useQuery(typeQuery(type))
  const { data, error } = useQuery(documentQuery(type, document, locale))
  if (typeError !== null || error !== null) throw typeError ?? error
  if (description === undefined || data === undefined) return <Skeleton lines={8} />
  const left = text(given.left) ?? `published ${data.data.locale ?? ''}`
  const right = text(given.right) ?? `draft ${data.data.locale ?? ''}`
  const name = nameOfDocument(description.data, data.data.draft as Entry | null) || words.untitled
  return (
    <div className={styles.screen}>
      <header className={styles.header}>
        <div className={styles.headLine}>
          <Link href={addresses.document(type, document, locale)} className={styles.back} aria-label={name}>
            <ArrowLeft size={16} aria-hidden="true" />
            <span className={styles.backText}>{name}</span>
          </Link>
          <h1 className={styles.name}>{words.compare.title}</h1>
        </div>
      </header>
      <Sides type={description.data} view={data.data} left={left} right={right} />
    </div>
  )
}

interface SidesProps {
  readonly type: TypeDescription
  readonly view: DocumentView
  readonly left: string
  readonly right: string
}

function Sides({ type, view, left, right }: SidesProps) {
  const words = useWords().editor
  const format = useFormat()
  const [, navigate] = useLocation()
  const [isEverything, setEverything] = useState(false)
  const { documentId, locale } = view
  const choices = view.locales.flatMap(({ locale: code, state }) => {
    const language = code === null ? '' : `, ${format.languageName(code)}`
    const draft = { value: `draft ${code ?? ''}`, label: `${words.compare.draft}${language}` }
    return state === 'draft' ? [draft] : [draft, { value: `published ${code ?? ''}`, label: `${words.compare.published}${language}` }]
  })
  const choose = (changed: { readonly left?: string; readonly right?: string }) =>
    navigate(addresses.compare(type.uid, documentId, { left, right, ...(locale === null ? {} : { locale }), ...changed }), {
      replace: true,
    })
  const sides = [
    useSide(
      type,
      view,
      left,
      <Select
        isQuiet
        isSmall
        aria-label={words.compare.left}
        choices={choices}
        value={left}
        onChange={(value) => choose({ left: value })}
      />,
    ),
    useSide(
      type,
      view,
      right,
      <Select
        isQuiet
        isSmall
        aria-label={words.compare.right}
        choices={choices}
        value={right}
        onChange={(value) => choose({ right: value })}
      />,
    ),
  ] as const
  return (
    <div className={styles.compare}>
      <div className={styles.compareTools}>
        <CheckBox isSelected={!isEverything} onChange={(isOn) => setEverything(!isOn)}>
          {words.compare.onlyChanges}
        </CheckBox>
      </div>
      {sides[0] === null || sides[1] === null ? (
        <Skeleton lines={8} />
      ) : (
        <Comparison type={type} left={sides[0]} right={sides[1]} isEverything={isEverything} same={words.compare.same} />
      )}
    </div>
  )
}

/** The version with a name such as `draft de`; null while it loads. */
function useSide(type: TypeDescription, view: DocumentView, name: string, title: ReactNode): Side | null {
  const words = useWords().editor.compare
  const format = useFormat()
  const [status = '', code = ''] = name.split(' ')
  const { data } = useQuery(documentQuery(type.uid, view.documentId, code === '' ? null : code))
  if (data === undefined) return null
  const version = status === 'published' ? data.data.published : data.data.draft
  const language = code === '' ? '' : `, ${format.languageName(code)}`
  const label = `${status === 'published' ? words.published : words.draft}${language}`
  return { title, name: label, data: (version ?? {}) as Entry, lang: code === '' ? null : code }
}
