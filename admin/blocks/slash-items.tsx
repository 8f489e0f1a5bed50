// Items of the slash menu.
import { Code, Heading, Image, List, ListOrdered, Pilcrow, Quote } from 'lucide-react'
import type { Command } from 'prosemirror-state'
import type { ReactNode } from 'react'
import type { useWords } from '../parts/words.js'
import { setKind, textKinds, toggleList } from './commands.js'
import { type SlashItem, withoutSlash } from './slash-menu.js'

type BlocksWords = ReturnType<typeof useWords>['fields']['blocks']

/** Typed text that makes the same kind. */
const shortcuts: Readonly<Record<string, string>> = {
  ...{ 'heading-1': '#', 'heading-2': '##', 'heading-3': '###', 'heading-4': '####', 'heading-5': '#####', 'heading-6': '######' },
  ...{ quote: '>', codeBlock: '```', unordered: '-', ordered: '1.' },
}

const icons = { paragraph: Pilcrow, quote: Quote, codeBlock: Code, heading: Heading, unordered: List, ordered: ListOrdered, image: Image }

function iconOf(name: string): ReactNode {
  const Icon = icons[name.split('-')[0] as keyof typeof icons]
  return <Icon size={16} aria-hidden="true" />
}

/** Kinds of blocks, lists, and images where these can be chosen. */
export function slashItems(
  words: BlocksWords,
  run: (command: Command) => void,
  chooseImages: (() => void) | undefined,
): readonly SlashItem[] {
  const item = (name: string, label: string, act: () => void): SlashItem => ({
    ...{ name, label, icon: iconOf(name), shortcut: shortcuts[name] },
    run: () => {
      run(withoutSlash)
      act()
    },
  })
  return [
    ...textKinds.map((kind) => item(kind, words.kinds[kind], () => run(setKind(kind)))),
    ...(['unordered', 'ordered'] as const).map((format) => item(format, words.kinds[format], () => run(toggleList(format)))),
    ...(chooseImages === undefined ? [] : [item('image', words.image, chooseImages)]),
  ]
}
