// Errors with the names of those of the API, which become the response.

/** @param {string} name @param {string} message @param {object} [details] */
export const apiError = (name, message, details = {}) => Object.assign(new Error(message), { name, details })

export const notFound = () => apiError('NotFoundError', 'Not Found')
