// The field that finds documents to link to.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { type Entry, keyOf, toLink } from '../form/values.js'
import { Button } from '../parts/button.js'
import { ComboBox, type ComboBoxItem } from '../parts/combo-box.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { startQuery } from '../server/queries.js'
import { type FieldProps, type Link, useDocumentFields } from './document.js'
import { linkName } from './link-name.js'
import { LinkView } from './link-view.js'

/** Choices of one page. */
const pageSize = 25

interface LinkPickerProps {
  readonly field: FieldProps
  readonly links: readonly Link[]
  readonly isMany: boolean
  readonly onAdd: (link: Entry) => void
  readonly onRemove: (link: Link) => void
}

interface Choice extends ComboBoxItem {
  readonly link: Entry
}

function useChoices(names: string, text: string, isOpen: boolean) {
  const { type, locale } = useDocumentFields()
  const query = { limit: pageSize, ...(text === '' ? {} : { q: text }), ...(locale === null ? {} : { locale }) }
  return useInfiniteQuery({
    queryKey: ['/choices/{type}/{path}', { type: type.uid, path: names }, query],
    queryFn: ({ pageParam, signal }) =>
      request('GET', '/choices/{type}/{path}', {
        ...{ path: { type: type.uid, path: names }, signal },
        query: { ...query, ...(pageParam === null ? {} : { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next,
    enabled: isOpen,
    placeholderData: (previous) => previous,
  })
}

/** Finds documents by their names; chosen ones carry a mark and can be taken back. */
export default function LinkPicker({ field, links, isMany, onAdd, onRemove }: LinkPickerProps) {
  const { createLink, locale } = useDocumentFields()
  const words = useWords().fields.relation
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const found = useChoices(field.names, useDeferredValue(text.trim()), isOpen)
  const start = useQuery({ ...startQuery(), enabled: createLink !== undefined })
  const target = String(field.attribute.target)
  const targetType = start.data?.data.types.find(({ uid }) => uid === target)
  const items = (found.data?.pages.flatMap(({ data }) => data) ?? []).map((choice): Choice => {
    const link = toLink(choice)
    return { id: keyOf(link)!, label: linkName(link, words.unnamed), link }
  })
  const pick = ({ id, link }: Choice) => {
    const present = links.find((one) => keyOf(one) === id)
    if (present === undefined) onAdd(link)
    else onRemove(present)
  }
  const create = async () => {
    const made = await createLink?.(target, text.trim())
    if (made !== undefined && made !== null) onAdd(made)
    setText('')
  }
  const mayCreate = createLink !== undefined && targetType?.actions.includes('create') === true
  return (
    <ComboBox
      {...field.control}
      items={items}
      query={text}
      onQuery={setText}
      selected={links.map((link) => keyOf(link)!)}
      onPick={pick}
      isMultiple={isMany}
      isLoading={found.isFetching}
      onMore={found.hasNextPage ? () => void found.fetchNextPage() : undefined}
      onOpenChange={setIsOpen}
      renderItem={({ link }) => <LinkView link={link} documentLocale={locale} />}
      placeholder={field.placeholder ?? words.find}
      empty={found.isError ? words.notFound : undefined}
      footer={
        mayCreate ? (
          <Button kind="quiet" isSmall icon={<Plus size={16} aria-hidden="true" />} onPress={() => void create()}>
            {text.trim() === '' ? words.create(targetType.displayName) : words.createNamed(text.trim())}
          </Button>
        ) : undefined
      }
    />
  )
}
