// What the page knows, unpacked when it is needed.

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const data = {
  packed: null,
  promise: null,
  raw() {
    this.packed ??= JSON.parse(document.getElementById("data").textContent);
    return this.packed;
  },
  // Every cell with its checks, and the words for outcomes.
  report() {
    this.promise ??= unpacked(this.raw().report);
    return this.promise;
  },
  // The transcript of one case; undefined where the page has none.
  async transcript(evidence) {
    const found = this.raw().transcripts;
    return Object.hasOwn(found, evidence) ? unpacked(found[evidence]) : undefined;
  },
};
