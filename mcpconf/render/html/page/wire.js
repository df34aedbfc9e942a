// The wire log of one case, as a sequence between a client and its servers.

function milliseconds(value) {
  return value === null || value === undefined ? "" : `${value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} ms`;
}

function bytes(size) {
  if (size === undefined || size === null) return "";
  return size < 1024 ? `${size} B` : `${(size / 1024).toFixed(1)} KiB`;
}

// Made when it is opened: most bodies never are.
function folded(label, ...texts) {
  const details = make("details", null, make("summary", { class: "line" }, label));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    for (const text of texts) {
      if (text) details.append(make("pre", { class: "body", tabindex: 0 }, text));
    }
  });
  return details;
}

function isMessage(moment) {
  return moment.way !== "-";
}

function momentItem(moment) {
  const aside = moment.way === "-";
  const side = aside ? "aside" : moment.way === ">" ? "client" : "server";
  const from = { aside: "", client: "client to server: ", server: "server to client: " }[side];
  const more = [moment.carrier, moment.party, bytes(moment.size), moment.cut].filter(Boolean).join(" · ");
  const line = [make("span", { class: "hidden" }, from), make("bdi", { class: "what" }, moment.label),
    more && make("span", { class: "more" }, aside ? ` · ${more}` : ` ${more}`)];
  const lane = make("div", { class: `lane ${side} ${moment.kind}` });
  if (moment.body || moment.headers) {
    lane.append(folded(line, moment.headers, moment.body));
  } else {
    lane.append(make("div", { class: "line" }, line));
  }
  if (!aside) lane.append(make("div", { class: "arrow" }));
  return make("li", { class: aside ? "moment quiet" : "moment" }, make("time", null, milliseconds(moment.t)), lane);
}

function endings(transcript, silence) {
  const said = [...(silence ? [silence] : []), ...transcript.endings];
  const end = transcript.end && make("p", { class: "said" }, transcript.end);
  if (!said.length && !end) return null;
  const list = said.length > 1
    ? make("ul", null, said.map((each) => make("li", null, each)))
    : make("span", null, said[0] || "");
  return make("div", { class: "silent" },
    said.length ? [make("strong", null, "Silent at the end: "), list] : null, end);
}

function wireSection(transcript, evidence, silence, title) {
  const section = make("section", { class: "wire-log" }, make("h3", null, title));
  if (transcript === undefined) {
    section.append(make("p", { class: "cutoff" }, `The page was made without the evidence; it is in ${evidence}.`));
    return section;
  }
  const heading = section.firstChild;
  const count = transcript.moments.filter(isMessage).length;
  heading.append(" ", make("span", { class: "number" }, counted(count, "message")));
  if (transcript.missing) {
    section.append(make("p", { class: "notice" }, `No wire log: ${transcript.missing}. It would be in `,
      make("code", null, transcript.evidence), "."));
    if (silence) section.append(endings({ endings: [], end: "" }, silence));
    heading.lastChild.remove();
    return section;
  }
  for (const fault of transcript.faults) section.append(make("p", { class: "notice" }, `Not read: ${fault}`));
  if (transcript.moments.length) {
    section.append(make("div", { class: "ends", "aria-hidden": "true" }, make("span", null, ""),
      make("div", null, make("span", null, "client"), make("span", null, "server"))));
    section.append(make("ol", { class: "wire" }, transcript.moments.map(momentItem)));
  }
  if (transcript.left) {
    section.append(make("p", { class: "cutoff left" }, `${transcript.left} more messages and events are in `,
      make("code", null, transcript.evidence)));
  }
  const end = endings(transcript, silence);
  if (end) section.append(end);
  return section;
}

function stepsSection(transcript) {
  if (!transcript || !transcript.steps.length) return null;
  const rows = transcript.steps.map((step) => {
    const said = step.detail && make("span", { class: "said" }, step.detail);
    const value = step.value && folded(step.cut ? `answer (${step.cut})` : "answer", step.value);
    return make("tr", null,
      make("td", { class: "n at" }, milliseconds(step.t)),
      make("th", { scope: "row" }, isolated(step.name)),
      make("td", { class: step.state === "ok" ? "state" : "state bad" }, step.state),
      make("td", { class: "n" }, milliseconds(step.took)),
      make("td", null, said, value));
  });
  const heads = [["at", "At"], ["step", "Step"], ["state", "State"], ["took", "Took"], ["said", "What was said"]]
    .map(([name, title]) => make("th", { scope: "col", class: name }, title));
  return make("section", { class: "driver" },
    make("h3", null, "The driver's steps ", make("span", { class: "number" }, String(rows.length))),
    make("table", { class: "steps" }, make("thead", null, make("tr", null, heads)), make("tbody", null, rows)));
}
