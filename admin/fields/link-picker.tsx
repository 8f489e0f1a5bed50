// The field that finds documents to link to.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useDeferredValue, useState } from 'react'
import { type Entry, keyOf, toLink } from '../form/values.js'
import { Button } from '../parts/button.js'
import { ComboBox, type ComboBoxItem, type ComboBoxProps } from '../parts/combo-box.js'
import type { FieldControl } from '../parts/field.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { startQuery } from '../server/queries.js'
import { type FieldProps, type Link, useDocumentFields } from './document.js'
import { linkName } from './link-name.js'
import { LinkView } from './link-view.js'

/** Choices of one page. */
const pageSize = 25

interface Choice extends ComboBoxItem {
  readonly link: Entry
}

interface ChoicesOf {
  readonly type: string
  /** Names of attributes that lead to the relation. */
  readonly names: string
  readonly locale: string | null
}

function useChoices({ type, names, locale }: ChoicesOf, text: string, isOpen: boolean) {
  const query = { limit: pageSize, ...(text === '' ? {} : { q: text }), ...(locale === null ? {} : { locale }) }
  return useInfiniteQuery({
    queryKey: ['/choices/{type}/{path}', { type, path: names }, query],
    queryFn: ({ pageParam, signal }) =>
      request('GET', '/choices/{type}/{path}', {
        ...{ path: { type, path: names }, signal },
        query: { ...query, ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next,
    enabled: isOpen,
    placeholderData: (previous) => previous,
  })
}

type FromComboBox = keyof FieldControl | 'aria-label' | 'isMultiple' | 'isSmall' | 'placeholder'

interface LinkFinderProps extends ChoicesOf, Pick<ComboBoxProps<Choice>, FromComboBox> {
  /** The id of a candidate among the chosen ones. */
  readonly idOf: (link: Entry) => string
  readonly selected: readonly string[]
  readonly onPick: (choice: Choice) => void
  /** An action below the candidates; `close` ends the search. */
  readonly footer?: (text: string, close: () => void) => ReactNode
}

/** Finds the candidates of a relation by their names; chosen ones carry a mark and can be taken back. */
export function LinkFinder({ type, names, locale, idOf, footer, placeholder, ...props }: LinkFinderProps) {
  const words = useWords().fields.relation
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const searched = useDeferredValue(text.trim())
  const found = useChoices({ type, names, locale }, searched, isOpen)
  const items = (found.data?.pages.flatMap(({ data }) => data) ?? []).map(
    (link): Choice => ({ id: idOf(link), label: linkName(link, words.unnamed), link }),
  )
  return (
    <ComboBox
      {...props}
      items={items}
      query={text}
      onQuery={setText}
      isLoading={found.isFetching}
      isCurrent={searched === text.trim() && found.isSuccess && !found.isPlaceholderData}
      onMore={found.hasNextPage ? () => void found.fetchNextPage() : undefined}
      onOpenChange={setIsOpen}
      renderItem={({ link }) => <LinkView link={link} documentLocale={locale} />}
      placeholder={placeholder ?? words.find}
      empty={found.isError ? words.notFound : undefined}
      footer={
        footer &&
        ((close) =>
          footer(text.trim(), () => {
            close()
            setText('')
          }))
      }
    />
  )
}

interface LinkPickerProps {
  readonly field: FieldProps
  readonly links: readonly Link[]
  readonly isMany: boolean
  readonly onAdd: (link: Entry) => void
  readonly onRemove: (link: Link) => void
}

const linkId = (link: Entry): string => keyOf(toLink(link))!

/** Finds documents to link to, and creates them. */
export default function LinkPicker({ field, links, isMany, onAdd, onRemove }: LinkPickerProps) {
  const { type, createLink, locale } = useDocumentFields()
  const words = useWords().fields.relation
  const start = useQuery({ ...startQuery(), enabled: createLink !== undefined })
  const target = String(field.attribute.target)
  const targetType = start.data?.data.types.find(({ uid }) => uid === target)
  const mayCreate = createLink !== undefined && targetType?.kind === 'collectionType' && targetType.actions.includes('create')
  return (
    <LinkFinder
      {...field.control}
      {...{ type: type.uid, names: field.names, locale, isMultiple: isMany, placeholder: field.placeholder }}
      idOf={linkId}
      selected={links.map((link) => keyOf(link)!)}
      onPick={({ id, link }) => {
        const present = links.find((one) => keyOf(one) === id)
        if (present === undefined) onAdd(link)
        else onRemove(present)
      }}
      footer={
        mayCreate
          ? (text, close) => (
              <Button
                kind="quiet"
                isSmall
                icon={<Plus size={16} aria-hidden="true" />}
                onPress={() => {
                  close()
                  createLink(target, text, field.path, onAdd)
                }}
              >
                {text === '' ? words.create(targetType.displayName) : words.createNamed(text)}
              </Button>
            )
          : undefined
      }
    />
  )
}
