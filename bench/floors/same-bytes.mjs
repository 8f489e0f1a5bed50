// The ceiling of node:http: answers every bench request from memory, with the very bytes that another server answered.
// Started with PORT and SOURCE, the origin of the server whose answers it repeats.

import { createServer } from 'node:http'
import { answersOf } from './kept-answers.mjs'

const answers = await answersOf(String(process.env.SOURCE))

createServer((request, response) => {
  const answer = answers.get(request.url)
  if (!answer) {
    response.writeHead(request.url === '/_health' ? 204 : 404).end()
    return
  }
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}).listen(Number(process.env.PORT), '127.0.0.1')
