'use strict';
/*
 * Every HTTP exchange that this process begins, as JSON lines; nothing else changes.
 *
 * Loaded with `node --require` into the suite's own process when it tests a server: the
 * suite is then the client, and only from inside is it seen what it really sent. A proxy
 * would rewrite the Host header that some scenarios spoof on purpose.
 *
 * The clients keep their behaviour. `fetch` and undici, Node's own and the suite's, say
 * what they do on diagnostics channels, byte for byte and without a second reader on any
 * stream; Node's older `http` client is spied on, and its streams are left alone. A fault
 * in here ends the witness, not the suite: the log then stops in the middle of a line.
 *
 * `aborted` with no bytes sent is a request that found no connection.
 */

const channels = require('diagnostics_channel');
const http = require('http');
const zlib = require('zlib');
const log = require('./witness_log.cjs');

const { quietly, spy } = log;

/** A partial body decodes as far as it goes. */
const SYNC = zlib.constants.Z_SYNC_FLUSH;
const DECODERS = {
  gzip: [zlib.gunzipSync, SYNC],
  'x-gzip': [zlib.gunzipSync, SYNC],
  deflate: [zlib.inflateSync, SYNC],
  br: [zlib.brotliDecompressSync, zlib.constants.BROTLI_OPERATION_FLUSH],
};
/** Kept of a body once it is decoded. */
const MOST = log.BODY_LIMIT;
/** Heads below this one announce the real one. */
const FIRST_FINAL_STATUS = 200;

const reached = new Set();

/** A server was there: something took the connection. */
function noteServer(port) {
  if (reached.has(port)) return;
  reached.add(port);
  log.emit({ type: 'listen', t: log.elapsed(), port });
}

const portOf = ({ port, protocol }) => Number(port) || (protocol === 'https:' ? 443 : 80);

/** The body as its reader sees it; null where that is how it was sent. */
function decoded({ responseBody, coding }) {
  const decoder = DECODERS[coding];
  if (!decoder || !responseBody.bytes) return null;
  const [decode, finishFlush] = decoder;
  try {
    const options = { finishFlush, maxOutputLength: MOST };
    const bytes = decode(responseBody.content(), options);
    return { text: log.textOf(bytes, responseBody.isWhole), isWhole: responseBody.isWhole };
  } catch {
    return { text: '', isWhole: false }; // more than is kept, or not what it says
  }
}

function end(exchange, how) {
  exchange.writeRequest({ aborted: !exchange.isSent });
  exchange.writeResponse(how, decoded(exchange));
}

function head(exchange, status, headers) {
  if (status < FIRST_FINAL_STATUS) return;
  exchange.coding = String(headers['content-encoding'] ?? '').toLowerCase();
  exchange.writeHead(status, headers);
}

// undici: Node's own, which is `fetch`, and the one the suite brings along

/** Exchanges by undici's request. */
const requests = new WeakMap();

function createdByUndici({ request }) {
  const { method, path, origin, headers } = request;
  const exchange = new log.Exchange({
    port: portOf(new URL(origin)),
    http: '1.1',
    method,
    url: path,
    headers: log.pairedHeaders(headers),
  });
  exchange.isSent = false;
  requests.set(request, exchange);
}

const undici = {
  'undici:request:create': createdByUndici,
  'undici:client:connected': ({ connectParams }) => noteServer(portOf(connectParams)),
  'undici:client:sendHeaders'({ request, headers }) {
    const exchange = requests.get(request);
    if (!exchange) return;
    exchange.head.headers = log.printedHeaders(headers);
    exchange.requestBody.clear(); // it is sent again where a kept connection was stale
  },
  'undici:request:bodyChunkSent'({ request, chunk }) {
    requests.get(request)?.requestBody.add(chunk);
  },
  'undici:request:bodySent'({ request }) {
    const exchange = requests.get(request);
    if (!exchange) return;
    exchange.isSent = true;
    exchange.writeRequest();
  },
  'undici:request:headers'({ request, response }) {
    const exchange = requests.get(request);
    if (exchange) head(exchange, response.statusCode, log.pairedHeaders(response.headers));
  },
  'undici:request:bodyChunkReceived'({ request, chunk }) {
    requests.get(request)?.responseBody.add(chunk);
  },
  'undici:request:trailers'({ request }) {
    const exchange = requests.get(request);
    if (exchange) end(exchange, 'finished');
  },
  'undici:request:error'({ request }) {
    const exchange = requests.get(request);
    if (exchange) end(exchange, 'closed');
  },
};

function watchUndici() {
  for (const [name, hook] of Object.entries(undici)) {
    channels.subscribe(name, (message) => quietly(hook, message));
  }
}

// Node's older client

/** Exchanges by Node's request. */
const older = new WeakMap();

function exchangeOf(request) {
  const known = older.get(request);
  if (known) return known;
  const exchange = new log.Exchange({
    // No connection yet: the header is what the caller meant.
    port: portOf(new URL(`http://${request.getHeader('host')}`)),
    http: '1.1',
    method: request.method,
    url: request.path,
    headers: {},
  });
  exchange.isSent = false;
  older.set(request, exchange);
  return exchange;
}

function addToRequest(request, chunk, encoding) {
  if (chunk == null || typeof chunk === 'function') return;
  exchangeOf(request).requestBody.add(chunk, encoding);
}

function writeSent(request, exchange) {
  const { head } = exchange;
  if (request._header) head.headers = log.printedHeaders(request._header);
  head.port = request.socket?.remotePort ?? head.port;
}

function watchOlderResponse(exchange, response) {
  noteServer(exchange.head.port);
  head(exchange, response.statusCode, log.pairedHeaders(response.rawHeaders));
  spy(response, 'push', {
    before(chunk) {
      if (chunk === null) end(exchange, 'finished');
      else exchange.responseBody.add(chunk);
    },
  });
  spy(response, 'emit', {
    before(event) {
      if (event === 'close') end(exchange, 'closed');
    },
  });
}

function observe(request, event, value) {
  if (!['finish', 'response', 'error', 'close'].includes(event)) return;
  const exchange = exchangeOf(request);
  writeSent(request, exchange);
  if (event === 'finish' && request.socket?.remotePort) {
    exchange.isSent = true;
    exchange.writeRequest();
  } else if (event === 'response') {
    watchOlderResponse(exchange, value);
  } else if (event === 'error' || (event === 'close' && !request.res)) {
    end(exchange, 'closed');
  }
}

function watchOlder({ prototype }) {
  log.spyAll(prototype, 'write', addToRequest);
  log.spyAll(prototype, 'end', addToRequest);
  log.spyAll(prototype, 'emit', observe);
}

log.begin(
  () => {
    watchUndici();
    watchOlder(http.ClientRequest);
  },
  (exchange) => end(exchange, 'open'),
);
