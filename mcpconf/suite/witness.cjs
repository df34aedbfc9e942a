'use strict';
/*
 * Every HTTP exchange of this process's servers, as JSON lines; nothing else changes.
 *
 * Loaded with `node --require` into the suite's own process, because the suite's mock
 * servers are the only ones that see all the client sends. A proxy would rewrite URLs,
 * and with them the resource and issuer identities that OAuth compares.
 *
 * The servers keep their behaviour: methods are spied on the instances, arguments and
 * results pass through untouched, and no stream listener is added, since a `data`
 * listener would set a paused request flowing. A fault in here ends the witness, not
 * the suite: the log then stops in the middle of a line.
 */

const http = require('http');
const log = require('./witness_log.cjs');

const { spy } = log;

function announcesBody({ headers }) {
  return 'transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0';
}

/** Whether Node discards the rest of the body, because the response is out. */
const isDiscarded = (request) => request._dumped === true && !request.complete;

function writeRequest({ request, exchange, hasBody }) {
  const isCut = isDiscarded(request);
  exchange.writeRequest({ isCut, aborted: hasBody && !request.complete && !isCut });
}

function writeHead({ response, exchange }) {
  if (exchange.headWritten) return;
  // The head as it is sent, with what Node adds; `getHeaders` misses both that and arrays.
  exchange.writeHead(response.statusCode, log.printedHeaders(response._header));
}

function watchRequest(served) {
  const { request, exchange } = served;
  spy(request, 'push', {
    before(chunk) {
      if (chunk === null) writeRequest(served);
      else exchange.requestBody.add(chunk);
    },
  });
  spy(request, 'emit', {
    before(event) {
      if (event === 'close') writeRequest(served);
    },
  });
}

function watchResponse(served) {
  const { request, response, exchange } = served;
  const head = { after: () => writeHead(served) };
  spy(response, 'writeHead', head);
  spy(response, 'writeHeader', head); // the old alias does not go through writeHead
  let ignored = false;
  const body = {
    before() {
      ignored = response.writableEnded || response.destroyed;
    },
    after(chunk, encoding) {
      // HEAD, 204 and 304 have no body, whatever the server writes.
      if (ignored || !response._hasBody) return;
      if (chunk == null || typeof chunk === 'function') return;
      exchange.responseBody.add(chunk, encoding);
    },
  };
  spy(response, 'write', body);
  spy(response, 'end', body);
  spy(response, 'emit', {
    before(event) {
      if (event !== 'finish' && event !== 'close') return;
      exchange.writeResponse(event === 'finish' ? 'finished' : 'closed');
      if (isDiscarded(request)) writeRequest(served);
    },
  });
}

const attached = new WeakSet();
/** What was served, by its exchange. */
const servings = new WeakMap();

function attach(request, response) {
  if (attached.has(request)) return; // one server may hand its requests to another
  attached.add(request);
  const exchange = new log.Exchange({
    // Taken at once: a router shortens `url` while the body still arrives.
    port: request.socket.localPort,
    remote_port: request.socket.remotePort,
    http: request.httpVersion,
    method: request.method,
    url: request.url,
    // `headers` would merge or drop repeated ones.
    headers: log.pairedHeaders(request.rawHeaders),
  });
  const served = { request, response, exchange, hasBody: announcesBody(exchange.head) };
  servings.set(exchange, served);
  // Without a body there is nothing to wait for, and the request comes first in the log.
  if (!served.hasBody) writeRequest(served);
  watchRequest(served);
  watchResponse(served);
}

const ports = new WeakMap();

function observe(server, event, ...parameters) {
  if (event === 'request') {
    attach(...parameters);
  } else if (event === 'listening') {
    const { port } = server.address();
    if (port === undefined) return; // a local socket: no client can be told of it
    ports.set(server, port);
    log.emit({ type: 'listen', t: log.elapsed(), port });
  } else if (event === 'close' && ports.has(server)) {
    log.emit({ type: 'close', t: log.elapsed(), port: ports.get(server) });
    ports.delete(server);
  }
}

log.begin(
  () => log.spyAll(http.Server.prototype, 'emit', observe), // the suite serves no TLS
  (exchange) => {
    writeRequest(servings.get(exchange));
    exchange.writeResponse('open');
  },
);
