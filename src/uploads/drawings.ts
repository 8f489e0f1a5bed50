// The size of an SVG drawing, from its opening tag. Drawings are never rendered here.

/** Width and height as the drawing states them; null where it does not. */
export function drawingSize(head: Uint8Array): { readonly width: number; readonly height: number } | null {
  const tag = /<svg\b[^>]*>/i.exec(new TextDecoder().decode(head))?.[0]
  if (tag === undefined) return null
  const stated = (name: string) => Number(new RegExp(`\\s${name}\\s*=\\s*["']\\s*([\\d.]{1,10})(?:px)?\\s*["']`, 'i').exec(tag)?.[1])
  const box = /\sviewBox\s*=\s*["']\s*([^"']{1,100})["']/i
    .exec(tag)?.[1]
    ?.trim()
    .split(/[\s,]+/)
    .map(Number)
  const width = stated('width') || box?.[2]
  const height = stated('height') || box?.[3]
  return width && height ? { width: Math.round(width), height: Math.round(height) } : null
}
