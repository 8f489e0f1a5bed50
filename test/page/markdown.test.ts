// The preview of Markdown: elements of its syntax tree, without markup from the text.
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Preview } from '../../admin/markdown/preview.js'

const preview = (text: string): string =>
  renderToStaticMarkup(createElement(Preview, { text })).replaceAll(' target="_blank" rel="noreferrer"', '')

test('headings, lists, quotes, code and tables are elements', () => {
  expect(preview('# One\n\nTwo **bold** and _thin_ `code`.')).toBe(
    '<h3>One</h3><p>Two <strong>bold</strong> and <em>thin</em> <code>code</code>.</p>',
  )
  expect(preview('- a\n- b\n  - c\n\n1. d')).toBe(
    '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li></ul><ol><li><p>d</p></li></ol>',
  )
  expect(preview('> one\n> two')).toBe('<blockquote><p>one\n two</p></blockquote>')
  expect(preview('```js\na < b\n```')).toBe('<pre><code>a &lt; b</code></pre>')
  expect(preview('| a | b |\n|---|---|\n| 1 | *2* |')).toBe(
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr></tbody></table>',
  )
})

test('only safe links can be followed, and HTML is a text', () => {
  expect(preview('[a *b*](https://a.test) <https://b.test> [c](/d "t")')).toBe(
    '<p><a href="https://a.test">a <em>b</em></a> <a href="https://b.test">https://b.test</a> <a href="/d">c</a></p>',
  )
  expect(preview('[a](javascript:alert(1)) [b](data:text/html,x)')).toBe('<p><span>a</span> <span>b</span></p>')
  expect(preview('<script>alert(1)</script>')).toContain('&lt;script&gt;')
  expect(preview('a <b onclick=x>b</b>')).toBe('<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>')
  expect(preview('[a][1]\n\n[1]: https://a.test')).toBe('<p><a href="https://a.test">a</a></p>')
})

test('pictures have their alternative texts, and addresses of other kinds are texts', () => {
  expect(preview('![A mill](/uploads/mill.jpg)')).toBe('<p><img src="/uploads/mill.jpg" alt="A mill" loading="lazy"/></p>')
  expect(preview('![x](javascript:alert(1))')).toBe('<p>x</p>')
})
