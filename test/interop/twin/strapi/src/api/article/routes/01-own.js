// Custom routes. The file comes first, so that /articles/featured is not taken for a document.
module.exports = {
  routes: [
    { method: 'GET', path: '/articles/featured', handler: 'article.featured' },
    { method: 'GET', path: '/articles/best', handler: 'article.best', config: { auth: false } },
    { method: 'GET', path: '/articles/export', handler: 'article.export' },
    { method: 'GET', path: '/articles/statistics', handler: 'article.statistics', config: { auth: false } },
  ],
}
