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
  /** Names of versions, such as `draft de`. */
  readonly left: string
  readonly right: string
}

function Sides({ type, view, left, right }: SidesProps) {
  const words = useWords().editor
  const format = useFormat()
  const [, navigate] = useLocation()
  const [isEverything, setEverything] = useState(false)
  const { documentId, locale } = view
  const labelOf = (name: string): string => {
    const { status, code } = readName(name)
    const label = status === 'published' ? words.compare.published : words.compare.draft
    return code === null ? label : `${label}, ${format.languageName(code)}`
  }
  const choices = view.locales.flatMap(({ locale: code, state }) =>
    (state === 'draft' ? ['draft'] : ['draft', 'published']).map((status) => {
      const value = `${status} ${code ?? ''}`
      return { value, label: labelOf(value) }
    }),
  )
  const chosen = { left, right, ...(locale === null ? {} : { locale }) }
  const titlesOf = (side: 'left' | 'right'): Pick<Side, 'title' | 'name'> => ({
    title: (
      <Select
        isQuiet
        isSmall
        aria-label={words.compare[side]}
        choices={choices}
        value={chosen[side]}
        onChange={(value) => navigate(addresses.compare(type.uid, documentId, { ...chosen, [side]: value }), { replace: true })}
      />
    ),
    name: labelOf(chosen[side]),
  })
  const sides = [useSide(type, documentId, left, titlesOf('left')), useSide(type, documentId, right, titlesOf('right'))] as const
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

function readName(name: string) {
  const [status = '', code = ''] = name.split(' ')
  return { status, code: code === '' ? null : code }
}

/** The version with a name; null while it loads. */
function useSide(type: TypeDescription, documentId: string, name: string, titles: Pick<Side, 'title' | 'name'>): Side | null {
  const { status, code } = readName(name)
  const { data } = useQuery(documentQuery(type.uid, documentId, code))
  if (data === undefined) return null
  const version = status === 'published' ? data.data.published : data.data.draft
  return { ...titles, data: (version ?? {}) as Entry, lang: code }
}
