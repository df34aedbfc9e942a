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
 *
 * Bodies may hold secrets. They go to a descriptor the runner reads into memory and
 * redacts, or to a file inside its private directory; this module redacts nothing.
 */

const fs = require('fs');
const http = require('http');
const { StringDecoder } = require('string_decoder');

/** Kept of each body; a message longer than this is data, not protocol. */
const BODY_LIMIT = 256 * 1024;
/** A runner that reads nothing for this long is gone; the suite must not hang on it. */
const STALL_MS = 10_000;
/** libuv closes every descriptor up to this one in children, whatever the gaps. */
const LAST_SURE_DESCRIPTOR = 15;

// Taken now, so that nothing the suite replaces later reaches into the witness.
const { writeSync } = fs;
const { stringify } = JSON;
const now = performance.now.bind(performance);
const loadedAt = now();

let sink = null;
let lastId = 0;
/** Exchanges whose records are not all written. */
const open = new Set();

/** Read a variable and remove it: the client inherits this environment. */
function take(name) {
  const value = process.env[name];
  delete process.env[name];
  return value;
}

/** Run a hook; its fault is the end of the witness and of nothing else. */
function quietly(hook, ...parameters) {
  if (sink === null) return;
  try {
    hook(...parameters);
  } catch {
    giveUp();
  }
}

/** Write nothing more, and leave a torn line: it says that there was more to say. */
function giveUp() {
  try {
    writeSync(sink, '{');
  } catch {
    // The sink itself is what failed.
  }
  sink = null;
  open.clear();
}

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Write one whole line, however often the pipe is full. */
function emit(record) {
  const line = Buffer.from(`${stringify(record)}\n`);
  let written = 0;
  let progressAt = now();
  while (written < line.length) {
    try {
      written += writeSync(sink, line, written);
      progressAt = now();
    } catch (error) {
      if (error.code !== 'EAGAIN' || now() - progressAt > STALL_MS) throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

const elapsed = () => Math.round((now() - loadedAt) * 1000) / 1000;

/** The first bytes of a body, and how many there were. */
class Body {
  constructor() {
    this.bytes = 0;
    this.kept = 0;
    this.chunks = [];
  }

  add(chunk, encoding) {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
        : chunk;
    this.bytes += bytes.length;
    const room = BODY_LIMIT - this.kept;
    if (room <= 0) return;
    // A copy: the owner may reuse the memory once the stream has taken the chunk.
    const copy = Buffer.from(bytes.subarray(0, room));
    this.kept += copy.length;
    this.chunks.push(copy);
  }

  text() {
    const bytes = Buffer.concat(this.chunks, this.kept);
    // Where the limit cut a character in two, its half is left out.
    return this.kept < this.bytes
      ? new StringDecoder('utf8').write(bytes)
      : bytes.toString('utf8');
  }
}

/** Add a header to a record; a repeated one becomes an array. */
function addHeader(headers, name, value) {
  const key = name.toLowerCase();
  if (!(key in headers)) headers[key] = value;
  else if (Array.isArray(headers[key])) headers[key].push(value);
  else headers[key] = [headers[key], value];
}

function requestHeaders(request) {
  const headers = Object.create(null);
  const raw = request.rawHeaders; // `headers` would merge or drop repeated ones
  for (let i = 0; i + 1 < raw.length; i += 2) addHeader(headers, raw[i], raw[i + 1]);
  return headers;
}

/** The head as it is sent, with what Node adds; `getHeaders` misses both that and arrays. */
function responseHeaders(response) {
  const headers = Object.create(null);
  for (const line of response._header.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) addHeader(headers, line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

function announcesBody({ headers }) {
  return 'transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0';
}

/** Whether Node discards the rest of the body, because the response is out. */
const isDiscarded = (request) => request._dumped === true && !request.complete;

function writeRequest(exchange) {
  if (exchange.requestWritten) return;
  exchange.requestWritten = true;
  const { request, requestBody } = exchange;
  emit({
    type: 'request',
    t: elapsed(),
    id: exchange.id,
    ...exchange.head,
    body: requestBody.text(),
    bytes: requestBody.bytes,
    truncated: requestBody.kept < requestBody.bytes || isDiscarded(request),
    aborted: exchange.hasBody && !request.complete && !isDiscarded(request),
  });
}

function writeHead(exchange) {
  if (exchange.headWritten) return;
  exchange.headWritten = true;
  emit({
    type: 'response-start',
    t: elapsed(),
    id: exchange.id,
    status: exchange.response.statusCode,
    headers: responseHeaders(exchange.response),
  });
}

function writeResponse(exchange, ended) {
  if (exchange.responseWritten) return;
  exchange.responseWritten = true;
  const { responseBody } = exchange;
  emit({
    type: 'response',
    t: elapsed(),
    id: exchange.id,
    body: responseBody.text(),
    bytes: responseBody.bytes,
    truncated: responseBody.kept < responseBody.bytes,
    ended,
  });
}

function forgetIfDone(exchange) {
  if (exchange.requestWritten && exchange.responseWritten) open.delete(exchange);
}

/** Call `before` and `after` round a method of one object, and change nothing else. */
function spy(object, name, { before, after }) {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: false,
    writable: true, // middleware replaces these methods too
    value(...parameters) {
      if (before) quietly(before, ...parameters);
      // Looked up on each call: frameworks exchange the prototype after us.
      const method = Object.getPrototypeOf(object)[name];
      const result = Reflect.apply(method, this, parameters);
      if (after) quietly(after, ...parameters);
      return result;
    },
  });
}

function watchRequest(exchange) {
  const { request, requestBody } = exchange;
  spy(request, 'push', {
    before(chunk) {
      if (chunk !== null) {
        requestBody.add(chunk);
        return;
      }
      writeRequest(exchange);
      forgetIfDone(exchange);
    },
  });
  spy(request, 'emit', {
    before(event) {
      if (event !== 'close') return;
      writeRequest(exchange);
      forgetIfDone(exchange);
    },
  });
}

function watchResponse(exchange) {
  const { response, responseBody } = exchange;
  const head = { after: () => writeHead(exchange) };
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
      responseBody.add(chunk, encoding);
    },
  };
  spy(response, 'write', body);
  spy(response, 'end', body);
  spy(response, 'emit', {
    before(event) {
      if (event !== 'finish' && event !== 'close') return;
      writeResponse(exchange, event === 'finish' ? 'finished' : 'closed');
      if (isDiscarded(exchange.request)) writeRequest(exchange);
      forgetIfDone(exchange);
    },
  });
}

const attached = new WeakSet();

function attach(request, response) {
  if (attached.has(request)) return; // one server may hand its requests to another
  attached.add(request);
  lastId += 1;
  const exchange = {
    id: lastId,
    // Taken at once: a router shortens `url` while the body still arrives.
    head: {
      port: request.socket.localPort,
      remote_port: request.socket.remotePort,
      http: request.httpVersion,
      method: request.method,
      url: request.url,
      headers: requestHeaders(request),
    },
    request,
    response,
    requestBody: new Body(),
    responseBody: new Body(),
    requestWritten: false,
    headWritten: false,
    responseWritten: false,
  };
  open.add(exchange);
  exchange.hasBody = announcesBody(exchange.head);
  // Without a body there is nothing to wait for, and the request comes first in the log.
  if (!exchange.hasBody) writeRequest(exchange);
  watchRequest(exchange);
  watchResponse(exchange);
}

const ports = new WeakMap();

function observe(server, event, parameters) {
  if (event === 'request') {
    attach(...parameters);
  } else if (event === 'listening') {
    const { port } = server.address();
    if (port === undefined) return; // a local socket: no client can be told of it
    ports.set(server, port);
    emit({ type: 'listen', t: elapsed(), port });
  } else if (event === 'close' && ports.has(server)) {
    emit({ type: 'close', t: elapsed(), port: ports.get(server) });
    ports.delete(server);
  }
}

function watchServer(prototype) {
  const inherited = prototype.emit;
  Object.defineProperty(prototype, 'emit', {
    configurable: true,
    enumerable: false,
    writable: true,
    value: function emitWitnessed(event, ...parameters) {
      quietly(observe, this, event, parameters);
      return Reflect.apply(inherited, this, [event, ...parameters]);
    },
  });
}

/** What is still open at the end is said to be open. */
function flush() {
  for (const exchange of open) {
    writeRequest(exchange);
    writeResponse(exchange, 'open');
  }
  open.clear();
}

/** The runner stops a hung suite so; the signal does then what it would have done. */
function endBySignal() {
  if (process.listenerCount('SIGTERM') > 0) return; // the suite has its own way out
  quietly(flush);
  process.kill(process.pid, 'SIGTERM');
}

/**
 * A descriptor that no child of the suite inherits, or null.
 *
 * Node marks what it inherited close-on-exec, but past LAST_SURE_DESCRIPTOR it stops at
 * the first gap. The client could then forge records, and would keep the runner's pipe
 * open. Opening the descriptor anew gives one that is close-on-exec for certain.
 */
function openDescriptor(text) {
  if (!/^\d+$/.test(text)) return null;
  const inherited = Number(text);
  // Without blocking, so that STALL_MS holds; appending, should it be a file.
  const { O_WRONLY, O_APPEND, O_NONBLOCK } = fs.constants;
  let own = null;
  try {
    own = fs.openSync(`/dev/fd/${inherited}`, O_WRONLY | O_APPEND | O_NONBLOCK);
  } catch {
    // A socket cannot be opened anew.
    if (inherited <= LAST_SURE_DESCRIPTOR) return inherited;
  }
  fs.closeSync(inherited);
  return own;
}

function openSink() {
  const descriptor = take('MCPCONF_WITNESS_FD');
  const file = take('MCPCONF_WITNESS_FILE');
  if (descriptor) return openDescriptor(descriptor);
  return file ? fs.openSync(file, 'a', 0o600) : null;
}

/** Keep compiled code between runs; the API leaves nothing in the environment. */
function enableCompileCache() {
  const directory = take('MCPCONF_COMPILE_CACHE');
  const { enableCompileCache: enable } = require('module'); // absent before Node 22.8
  if (directory && enable) enable(directory);
}

try {
  enableCompileCache();
  sink = openSink();
  if (sink !== null) {
    watchServer(http.Server.prototype); // the suite serves no TLS
    process.on('exit', () => quietly(flush));
    process.once('SIGTERM', endBySignal);
  }
} catch {
  sink = null;
}
