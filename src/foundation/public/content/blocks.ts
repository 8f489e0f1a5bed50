// Structured attribute values: rich text as blocks, and the formats of images.

/** The value of a `blocks` attribute. */
export type BlocksContent = Block[]

/** A block of rich text. */
export type Block = ParagraphBlock | HeadingBlock | QuoteBlock | CodeBlock | ListBlock | ImageBlock

export interface ParagraphBlock {
  type: 'paragraph'
  children: InlineNode[]
}

export interface HeadingBlock {
  type: 'heading'
  level: 1 | 2 | 3 | 4 | 5 | 6
  children: InlineNode[]
}

export interface QuoteBlock {
  type: 'quote'
  children: InlineNode[]
}

export interface CodeBlock {
  type: 'code'
  language?: string
  children: TextNode[]
}

export interface ListBlock {
  type: 'list'
  format: 'ordered' | 'unordered'
  indentLevel?: number
  children: (ListItem | ListBlock)[]
}

export interface ListItem {
  type: 'list-item'
  children: InlineNode[]
}

export interface ImageBlock {
  type: 'image'
  image: BlockImage
  children: TextNode[]
}

/** An image in rich text: a copy of the file's properties when it was inserted. */
export interface BlockImage {
  name: string
  alternativeText?: string | null
  caption?: string | null
  url: string
  width: number
  height: number
  formats?: Record<string, unknown>
  hash: string
  ext: string
  mime: string
  size: number
  previewUrl?: string | null
  provider: string
  provider_metadata?: unknown
  createdAt: string
  updatedAt: string
}

/** The inline content of rich text. */
export type InlineNode = TextNode | LinkNode

export interface TextNode {
  type: 'text'
  text: string
  bold?: boolean
  italic?: boolean
  underline?: boolean
  strikethrough?: boolean
  code?: boolean
}

export interface LinkNode {
  type: 'link'
  url: string
  rel?: string
  target?: string
  children: TextNode[]
}

/** A smaller version of an image. */
export interface FileFormat {
  name: string
  hash: string
  ext: string
  mime: string
  path: string | null
  width: number
  height: number
  /** Kilobytes. */
  size: number
  sizeInBytes?: number
  url: string
}

/** The smaller versions of an image by name; a version exists only if the image is larger. */
export interface FileFormats {
  thumbnail?: FileFormat
  small?: FileFormat
  medium?: FileFormat
  large?: FileFormat
}

/** The point of an image that stays visible when it is cropped, in percent. */
export interface FocalPoint {
  x: number
  y: number
}
