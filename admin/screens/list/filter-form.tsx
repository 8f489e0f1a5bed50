// The form of a list's filters: conditions joined by "and" or "or", and groups of them.
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2, X } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Button } from '../../parts/button.js'
import { IconButton } from '../../parts/icon-button.js'
import { NumberInput } from '../../parts/number-input.js'
import { Select } from '../../parts/select.js'
import { Skeleton } from '../../parts/skeleton.js'
import { TextInput } from '../../parts/text-input.js'
import { useWords } from '../../parts/words.js'
import { typeQuery } from '../../server/queries.js'
import { columnLabel } from './columns.js'
import {
  type ComparedKind,
  type Condition,
  type ConditionGroup,
  type ConditionItem,
  linkedIds,
  type Operator,
  operatorsOf,
  takesNoValue,
} from './conditions.js'
import styles from './filter-form.module.css'
import { useLinkedNames } from './filter-text.js'
import { type AttributeInfo, attributeOf, comparedKind, mainField, relationField, stateColumn, type TypeInfo } from './list-query.js'

const LinkFinder = lazy(async () => ({ default: (await import('../../fields/link-picker.js')).LinkFinder }))

interface FilterFormProps {
  readonly type: TypeInfo
  /** Null: the default one. */
  readonly locale: string | null
  readonly group: ConditionGroup
  readonly onChange: (group: ConditionGroup) => void
}

/** The form of the filters; nothing is asked for until they are applied. */
export default function FilterForm({ type, locale, group, onChange }: FilterFormProps): ReactNode {
  const { list } = useWords()
  const [draft, setDraft] = useState<ConditionGroup>(() => (group.items.length === 0 ? { ...group, items: [firstCondition(type)] } : group))
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onChange(withoutBlanks(draft))
      }}
    >
      <GroupForm type={type} locale={locale} group={draft} onChange={setDraft} isOuter />
      <div className={styles.foot}>
        {group.items.length > 0 && (
          <Button kind="quiet" isSmall onPress={() => onChange({ ...group, items: [] })}>
            {list.conditions.reset}
          </Button>
        )}
        <Button kind="main" isSmall type="submit">
          {list.conditions.apply}
        </Button>
      </div>
    </form>
  )
}

/** Conditions whose value was left empty are no conditions. */
function withoutBlanks(group: ConditionGroup): ConditionGroup {
  const items = group.items
    .map((item): ConditionItem => (item.kind === 'group' ? withoutBlanks(item) : item))
    .filter((item) =>
      item.kind === 'condition' ? takesNoValue(item.operator) || item.value.trim() !== '' : item.kind === 'raw' || item.items.length > 0,
    )
  return { ...group, items }
}

/** Attributes that a list can be filtered by. */
const filteredBy = (type: TypeInfo): readonly string[] =>
  [
    ...(type.draftAndPublish ? [stateColumn] : []),
    ...Object.keys(type.attributes),
    'createdAt',
    'updatedAt',
    'createdBy',
    'updatedBy',
    'documentId',
  ].filter((name) => (name === stateColumn || type.fields.read.includes(name)) && comparedKind(name, attributeOf(type, name)) !== null)

/** The comparisons of a kind; administrators cannot be chosen as documents are. */
const operatorsFor = (kind: ComparedKind, attribute: AttributeInfo | undefined): readonly Operator[] =>
  operatorsOf[kind].filter((operator) => operator !== 'oneOf' || attribute?.target?.startsWith('admin::') === false)

/** A condition on an attribute with its usual comparison: on the name, how it begins; on administrators, one on their names. */
function conditionOn(type: TypeInfo, name: string): Condition {
  const attribute = attributeOf(type, name)
  const kind = comparedKind(name, attribute) ?? 'text'
  // Searching finds texts in the middle of names already.
  const operator = name === mainField(type) && kind === 'text' ? 'startsWith' : operatorsFor(kind, attribute)[0]!
  if (kind === 'relation' && operator !== 'oneOf')
    return { kind: 'condition', path: [name, relationField(type, name)], operator: 'contains', value: '' }
  return { kind: 'condition', path: [name], operator, value: startValue(kind, operator) }
}

const firstCondition = (type: TypeInfo): Condition => {
  const main = mainField(type)
  return conditionOn(type, filteredBy(type).includes(main) ? main : (filteredBy(type)[0] ?? 'documentId'))
}

/** Days of "in the last … days", unless others are chosen. */
const usualDays = '7'

const startValue = (kind: ComparedKind, operator: Operator): string =>
  operator === 'last' ? usualDays : kind === 'state' ? 'draft' : kind === 'boolean' && operator === 'is' ? 'true' : ''

interface GroupFormProps extends Pick<FilterFormProps, 'locale'> {
  readonly type: TypeInfo
  readonly group: ConditionGroup
  readonly onChange: (group: ConditionGroup) => void
  readonly onRemove?: () => void
  readonly isOuter?: boolean
}

function GroupForm({ type, locale, group, onChange, onRemove, isOuter = false }: GroupFormProps): ReactNode {
  const { conditions } = useWords().list
  const replace = (index: number, item: ConditionItem | null) =>
    onChange({ ...group, items: group.items.flatMap((one, at) => (at === index ? (item === null ? [] : [item]) : [one])) })
  const add = (item: ConditionItem) => onChange({ ...group, items: [...group.items, item] })
  return (
    <fieldset className={isOuter ? styles.outer : styles.group} aria-label={conditions.title}>
      {(group.items.length > 1 || !isOuter) && (
        <div className={styles.join}>
          <Select
            isSmall
            isQuiet
            aria-label={conditions.join}
            value={group.join}
            onChange={(join) => onChange({ ...group, join })}
            choices={[
              { value: 'and', label: conditions.all },
              { value: 'or', label: conditions.any },
            ]}
          />
          {onRemove !== undefined && (
            <IconButton label={conditions.removeGroup} isSmall onPress={onRemove}>
              <Trash2 />
            </IconButton>
          )}
        </div>
      )}
      {group.items.map((item, index) => (
        <ItemForm key={index} type={type} locale={locale} item={item} onChange={(next) => replace(index, next)} />
      ))}
      <div className={styles.add}>
        <Button kind="quiet" isSmall icon={<Plus />} onPress={() => add(firstCondition(type))}>
          {conditions.add}
        </Button>
        {isOuter && (
          <Button
            kind="quiet"
            isSmall
            icon={<Plus />}
            onPress={() => add({ kind: 'group', join: group.join === 'and' ? 'or' : 'and', items: [firstCondition(type)] })}
          >
            {conditions.addGroup}
          </Button>
        )}
      </div>
    </fieldset>
  )
}

interface ItemFormProps extends Pick<FilterFormProps, 'locale'> {
  readonly type: TypeInfo
  readonly item: ConditionItem
  readonly onChange: (item: ConditionItem | null) => void
}

function ItemForm({ type, locale, item, onChange }: ItemFormProps): ReactNode {
  const { conditions } = useWords().list
  if (item.kind === 'group')
    return <GroupForm type={type} locale={locale} group={item} onChange={onChange} onRemove={() => onChange(null)} />
  return (
    <div className={styles.row}>
      {item.kind === 'raw' ? (
        <code className={styles.raw}>{JSON.stringify(item.filters)}</code>
      ) : (
        <ConditionForm type={type} locale={locale} condition={item} onChange={onChange} />
      )}
      <IconButton label={conditions.remove} isSmall onPress={() => onChange(null)}>
        <Trash2 />
      </IconButton>
    </div>
  )
}

interface ConditionFormProps extends Pick<FilterFormProps, 'locale'> {
  readonly type: TypeInfo
  readonly condition: Condition
  readonly onChange: (condition: Condition) => void
}

function ConditionForm({ type, locale, condition, onChange }: ConditionFormProps): ReactNode {
  const words = useWords()
  const { list } = words
  const [first = '', second] = condition.path
  const attribute = attributeOf(type, first)
  const isRelation = comparedKind(first, attribute) === 'relation'
  const target = useQuery({ ...typeQuery(attribute?.target ?? ''), enabled: isRelation && attribute?.target !== undefined })
  const targetType = target.data && { ...target.data.data, naming: null, draftAndPublish: false }
  const compared = second === undefined ? attribute : targetType === undefined ? undefined : attributeOf(targetType, second)
  const kind = comparedKind(second ?? first, compared) ?? (second === undefined ? 'relation' : 'text')
  const setPath = (path: readonly string[], of: ComparedKind) => {
    const operator = operatorsFor(of, attribute)[0]!
    onChange({ ...condition, path, operator, value: startValue(of, operator) })
  }
  return (
    <div className={styles.condition}>
      <Select
        isSmall
        aria-label={list.conditions.attribute}
        value={first}
        onChange={(name) => onChange(conditionOn(type, name))}
        choices={filteredBy(type).map((name) => ({ value: name, label: columnLabel(words, type, name) }))}
      />
      {isRelation && (
        <Select
          isSmall
          aria-label={list.conditions.through}
          value={second ?? ''}
          onChange={(name) =>
            name === ''
              ? setPath([first], 'relation')
              : setPath([first, name], (targetType && comparedKind(name, attributeOf(targetType, name))) ?? 'text')
          }
          choices={[
            { value: '', label: list.conditions.itself },
            ...(targetType === undefined
              ? [relationField(type, first)].map((name) => ({ value: name, label: name }))
              : filteredBy(targetType)
                  .filter((name) => comparedKind(name, attributeOf(targetType, name)) !== 'relation')
                  .map((name) => ({ value: name, label: columnLabel(words, targetType, name) }))),
          ]}
        />
      )}
      <Select
        isSmall
        aria-label={list.conditions.operator}
        value={condition.operator}
        onChange={(operator) =>
          onChange({
            ...condition,
            operator,
            value: operator === 'last' || condition.operator === 'last' ? startValue(kind, operator) : condition.value,
          })
        }
        choices={[...new Set([...operatorsFor(kind, attribute), condition.operator])].map((value) => ({
          value,
          label: (kind === 'date' ? list.dateOperators[value] : undefined) ?? list.operators[value],
        }))}
      />
      {condition.operator === 'oneOf' && <LinksForm type={type} locale={locale} condition={condition} onChange={onChange} />}
      {condition.operator !== 'oneOf' && !takesNoValue(condition.operator) && (
        <ValueForm kind={kind} choices={compared?.enum ?? []} condition={condition} onChange={onChange} />
      )}
    </div>
  )
}

/** The documents to filter by, found by name; several may be chosen. */
function LinksForm({ type, locale, condition, onChange }: ConditionFormProps): ReactNode {
  const { list, fields } = useWords()
  const [first = ''] = condition.path
  const ids = linkedIds(condition)
  const nameOf = useLinkedNames(type, { items: [condition] }, locale)
  const [found, setFound] = useState<ReadonlyMap<string, string>>(new Map())
  const set = (chosen: readonly string[]) => onChange({ ...condition, value: chosen.join(',') })
  const pick = ({ id, label }: { readonly id: string; readonly label: string }) => {
    setFound(new Map([...found, [id, label]]))
    set(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id])
  }
  return (
    <div className={styles.links}>
      {ids.map((id) => {
        const name = found.get(id) ?? nameOf(id) ?? '…'
        return (
          <span key={id} className={styles.link}>
            <span className={styles.linkName}>{name}</span>
            <IconButton label={fields.relation.remove(name)} isSmall onPress={() => set(ids.filter((one) => one !== id))}>
              <X />
            </IconButton>
          </span>
        )
      })}
      <Suspense fallback={<Skeleton lines={1} isField />}>
        <LinkFinder
          {...{ type: type.uid, names: first, locale, selected: ids, onPick: pick }}
          isSmall
          isMultiple
          aria-label={list.value}
          idOf={({ documentId }) => String(documentId)}
        />
      </Suspense>
    </div>
  )
}

interface ValueFormProps {
  readonly kind: ComparedKind
  readonly choices: readonly string[]
  readonly condition: Condition
  readonly onChange: (condition: Condition) => void
}

/** Days that "in the last … days" takes. */
const mostDays = 9999

function ValueForm({ kind, choices, condition, onChange }: ValueFormProps): ReactNode {
  const { list, parts } = useWords()
  const set = (value: string) => onChange({ ...condition, value })
  if (condition.operator === 'last')
    return (
      <NumberInput
        isSmall
        isInteger
        aria-label={list.value}
        value={condition.value === '' ? null : Number(condition.value)}
        onChange={(value) => set(typeof value === 'number' ? String(Math.min(Math.max(1, Math.round(value)), mostDays)) : '')}
        end={list.conditions.days}
      />
    )
  if (kind === 'boolean')
    return (
      <Select
        isSmall
        aria-label={list.value}
        value={condition.value}
        onChange={set}
        choices={[
          { value: 'true', label: list.yes },
          { value: 'false', label: list.no },
        ]}
      />
    )
  if (kind === 'state')
    return (
      <Select
        isSmall
        aria-label={list.value}
        value={condition.value}
        onChange={set}
        choices={(['draft', 'changed', 'published'] as const).map((value) => ({ value, label: parts.state[value] }))}
      />
    )
  if (kind === 'choice')
    return (
      <Select
        isSmall
        aria-label={list.value}
        value={choices.includes(condition.value) ? condition.value : null}
        onChange={set}
        choices={choices.map((value) => ({ value, label: value }))}
      />
    )
  if (kind === 'number')
    return (
      <NumberInput
        isSmall
        aria-label={list.value}
        value={condition.value === '' ? null : condition.value}
        onChange={(value) => set(value === null ? '' : String(value))}
      />
    )
  return (
    <TextInput
      isSmall
      aria-label={list.value}
      type={kind === 'date' ? 'date' : 'text'}
      value={kind === 'date' ? condition.value.slice(0, 10) : condition.value}
      onChange={set}
      autoFocus={condition.value === '' && kind === 'text'}
    />
  )
}
