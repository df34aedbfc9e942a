'use strict';
/*
 * What both witnesses share: the sink, and the records of one exchange.
 *
 * `witness.cjs` looks at the servers of its process, `witness_server.cjs` at its clients.
 * Both write the same lines, so that one reader serves for either side.
 *
 * Bodies may hold secrets. They go to a descriptor the runner reads into memory and
 * redacts, or to a file inside its private directory; this module redacts nothing.
 */

const fs = require('fs');
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
    this.clear();
  }

  clear() {
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

  get isWhole() {
    return this.kept === this.bytes;
  }

  content() {
    return Buffer.concat(this.chunks, this.kept);
  }

  text() {
    return textOf(this.content(), this.isWhole);
  }
}

/** Bytes as text; where a limit cut a character in two, its half is left out. */
function textOf(bytes, isWhole) {
  return isWhole ? bytes.toString('utf8') : new StringDecoder('utf8').write(bytes);
}

/** Add a header to a record; a repeated one becomes an array. */
function addHeader(headers, name, value) {
  const key = name.toLowerCase();
  if (!(key in headers)) headers[key] = value;
  else if (Array.isArray(headers[key])) headers[key].push(value);
  else headers[key] = [headers[key], value];
}

/** Headers from `[name, value, name, value, ...]`. */
function pairedHeaders(raw) {
  const headers = Object.create(null);
  for (let i = 0; i + 1 < raw.length; i += 2) {
    addHeader(headers, String(raw[i]), String(raw[i + 1]));
  }
  return headers;
}

/** Headers from the text of a head, behind its first line. */
function printedHeaders(text) {
  const headers = Object.create(null);
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) addHeader(headers, line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/** One exchange; each of its records is written once. */
class Exchange {
  /** `head` holds what the request's record says beside the body. */
  constructor(head) {
    lastId += 1;
    this.id = lastId;
    this.head = head;
    this.requestBody = new Body();
    this.responseBody = new Body();
    this.requestWritten = false;
    this.headWritten = false;
    this.responseWritten = false;
    open.add(this);
  }

  writeRequest({ isCut = false, aborted = false } = {}) {
    if (this.requestWritten) return;
    this.requestWritten = true;
    const { requestBody } = this;
    emit({
      type: 'request',
      t: elapsed(),
      id: this.id,
      ...this.head,
      body: requestBody.text(),
      bytes: requestBody.bytes,
      truncated: isCut || !requestBody.isWhole,
      aborted,
    });
    this.forgetIfDone();
  }

  writeHead(status, headers) {
    if (this.headWritten) return;
    this.headWritten = true;
    emit({ type: 'response-start', t: elapsed(), id: this.id, status, headers });
  }

  /** `decoded` is the body as it was read, where that is not as it was sent. */
  writeResponse(ended, decoded = null) {
    if (this.responseWritten) return;
    this.responseWritten = true;
    const { responseBody } = this;
    const { text, isWhole } = decoded ?? {
      text: responseBody.text(),
      isWhole: responseBody.isWhole,
    };
    emit({
      type: 'response',
      t: elapsed(),
      id: this.id,
      body: text,
      bytes: responseBody.bytes,
      truncated: !isWhole,
      ended,
    });
    this.forgetIfDone();
  }

  forgetIfDone() {
    if (this.requestWritten && this.responseWritten) open.delete(this);
  }
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

/** Call `before` with the object ahead of a method of all of a kind. */
function spyAll(prototype, name, before) {
  const inherited = prototype[name];
  Object.defineProperty(prototype, name, {
    configurable: true,
    enumerable: false,
    writable: true,
    value: function witnessed(...parameters) {
      quietly(before, this, ...parameters);
      return Reflect.apply(inherited, this, parameters);
    },
  });
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

/**
 * Open the sink and `watch` from now on; without a sink nothing is watched.
 *
 * At the end `close` is called with every exchange that is still open.
 */
function begin(watch, close) {
  function flush() {
    for (const exchange of open) close(exchange);
    open.clear();
  }
  /** The runner stops a hung suite so; the signal does then what it would have done. */
  function endBySignal() {
    if (process.listenerCount('SIGTERM') > 0) return; // the suite has its own way out
    quietly(flush);
    process.kill(process.pid, 'SIGTERM');
  }
  try {
    enableCompileCache();
    sink = openSink();
    if (sink === null) return;
    watch();
    process.on('exit', () => quietly(flush));
    process.once('SIGTERM', endBySignal);
  } catch {
    sink = null;
  }
}

module.exports = {
  BODY_LIMIT,
  Exchange,
  begin,
  elapsed,
  emit,
  pairedHeaders,
  printedHeaders,
  quietly,
  spy,
  spyAll,
  textOf,
};
