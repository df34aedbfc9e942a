// The panel of one result: what was found, what the driver did, what was on the wire.

const panel = document.getElementById("panel");
const ORDER = { FAIL: 0, SKIP: 1, PASS: 2 };
const WORDS = { FAIL: "failed", PASS: "passed", SKIP: "skipped" };

function badge(outcome, word) {
  return make("span", { class: `badge ${outcome}` }, icon(outcome), word);
}

function checkBadge(check) {
  if (check.outcome === "flaky") return badge("flaky", "flaky");
  const isWarning = check.suite_status === "WARNING";
  const word = isWarning ? "warning" : check.status === "SKIP" && check.outcome ? check.outcome : WORDS[check.status];
  if (isWarning && check.status === "SKIP") return badge("warning", word);
  const tone = { FAIL: "failed", PASS: "passed" }[check.status] || "not-applicable";
  return badge(tone, word);
}

function checkItem(check, report, key, scenarioLine) {
  const id = check.check_id || check.name;
  const whose = check.attribution && `${report.attributions[check.attribution] || check.attribution}'s doing`;
  const repeats = check.count > 1 && make("span", { class: "muted" }, `${check.count} times`);
  const head = make("div", { class: "head" }, checkBadge(check),
    make("a", { class: "id", href: linkTo(key, { check: id }), title: check.name }, isolated(id)),
    check.level && make("span", { class: "level" }, check.level),
    check.source === "harness" && make("span", { class: "muted" }, "harness"),
    repeats, whose && make("span", { class: "muted" }, whose),
    check.reproduce && check.reproduce === scenarioLine
      && copyButton(check.reproduce, "Copy command", check.reproduce));
  return make("li", { class: "check", "data-check": id }, head,
    check.detail && make("div", { class: "said" }, check.detail),
    check.demand && make("div", { class: "demand said" }, `Demand: ${check.demand}`),
    check.pages && check.pages.length ? make("ul", { class: "pages" }, check.pages.map((page) => make("li", null, reference(page)))) : null,
    check.reproduce && check.reproduce !== scenarioLine && copyable(check.reproduce));
}

function checksSection(value, report, key) {
  const sorted = [...value.checks].sort((a, b) => ORDER[a.status] - ORDER[b.status]);
  const loud = sorted.filter((check) => check.status === "FAIL" || check.suite_status === "WARNING");
  const quiet = sorted.filter((check) => !loud.includes(check));
  const section = make("section", { class: "of-checks" },
    make("h3", null, "Checks ", make("span", { class: "number" }, `${value.checks.filter((each) => each.status === "PASS").length} of ${value.checks.length} passed`)));
  const list = (checks) => make("ul", { class: "checks" }, checks.map((check) => checkItem(check, report, key, value.reproduce)));
  if (loud.length) section.append(list(loud));
  if (quiet.length && loud.length) {
    const skipped = quiet.filter((check) => check.status === "SKIP").length;
    const passed = quiet.length - skipped;
    const said = [passed && `${passed} passed`, skipped && `${skipped} skipped`].filter(Boolean).join(", ");
    section.append(make("details", { class: "rest" }, make("summary", null, said), list(quiet)));
  } else if (quiet.length) {
    section.append(list(quiet));
  }
  if (!value.checks.length) section.append(make("p", { class: "muted" }, "None was reported."));
  return section;
}

function facts(value) {
  const lines = make("dl", { class: "lines" });
  const add = (name, ...content) => {
    if (content.some((each) => each)) lines.append(make("dt", null, name), make("dd", null, ...content));
  };
  const join = (values) => (values || []).join(", ");
  add("Silent at the end", value.silence);
  add("Revision", `leg ${value.revision.leg}; offered ${join(value.revision.offered) || "nothing"}; agreed ${join(value.revision.agreed) || "nothing"}`);
  add("Not scored", value.not_scored);
  add("Took", `${value.duration_seconds.toFixed(2)} s`);
  add("Left behind", join(value.leftovers));
  add("Promised, never seen", join(value.missing_checks));
  add("Seen, never promised", join(value.unknown_checks));
  add("Evidence", make("code", null, value.evidence));
  add("Again", copyable(value.reproduce));
  return lines;
}

function rerunSections(value, report) {
  return (value.reruns || []).map((rerun, index) => make("section", { class: "rerun" },
    make("h3", null, `Run again, alone (${index + 1})`),
    make("p", null, badge(rerun.outcome, report.outcomes[rerun.outcome] || rerun.outcome), " ",
      make("span", { class: "said" }, rerun.reason || ""))));
}

// Everything of one result but its wire log, which comes when it is unpacked.
function fillPanel(key, value, report, bar) {
  const variant = value.variant && make("span", { class: "variant" }, value.variant);
  const [transport] = key.split("/");
  const leg = `${transport === "stdio" ? "stdio" : "HTTP"}, ${value.revision.leg}, ${report.sources[value.source] || value.source}`;
  const whose = value.attribution && `${report.attributions[value.attribution] || value.attribution}'s doing`;
  const heading = make("h2", { id: "panel-title", tabindex: -1 }, isolated(value.scenario), " ", variant);
  const isBad = !["passed", "unsupported", "not-applicable"].includes(value.outcome);
  panel.replaceChildren(bar,
    make("div", { class: "title" }, heading,
      make("div", { class: "line" }, badge(value.outcome, report.outcomes[value.outcome] || value.outcome),
        make("span", { class: "leg" }, leg), whose && make("span", null, whose))),
    value.reason !== value.outcome ? make("p", { class: isBad ? "reason bad said" : "reason said" }, value.reason) : "",
    facts(value),
    checksSection(value, report, key),
    ...rerunSections(value, report));
  if (value.client_stderr) {
    panel.append(make("section", { class: "stderr" }, make("h3", null, "What the program wrote"),
      make("pre", { class: "body", tabindex: 0 }, value.client_stderr)));
  }
  return heading;
}

async function fillWire(value, isCurrent) {
  const transcript = await data.transcript(value.evidence);
  const later = await Promise.all((value.reruns || []).map((each) => data.transcript(each.evidence)));
  if (!isCurrent()) return;
  const steps = stepsSection(transcript);
  if (steps) panel.append(steps);
  panel.append(wireSection(transcript, value.evidence, value.silence, "On the wire"));
  later.forEach((each, index) => {
    panel.append(wireSection(each, value.reruns[index].evidence, null, `On the wire, run again (${index + 1})`));
  });
}
