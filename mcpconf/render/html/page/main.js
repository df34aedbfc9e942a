// What the address says is what is shown: `#/<cell>?outcome=failed&q=words&check=id`.

const narrow = matchMedia("(max-width: 60rem)");
const pageElement = document.getElementById("page");
let current = null;
let opener = null;

function address(key, parameters) {
  const query = new URLSearchParams(parameters).toString();
  const path = key === null ? "" : `/${encodeURIComponent(key).replace(/%2F/g, "/").replace(/%40/g, "@").replace(/%3A/g, ":")}`;
  return `#${path}${query ? `?${query}` : ""}`;
}

function linkTo(key, more) {
  return address(key, { ...filterState(), ...more });
}

function parsed() {
  const [path, query] = location.hash.slice(1).split(/\?(.*)/s);
  let key = null;
  try {
    key = path.startsWith("/") ? decodeURIComponent(path.slice(1)) : null;
  } catch {
    key = null; // no address of ours
  }
  return { key, parameters: Object.fromEntries(new URLSearchParams(query || "")) };
}

function close() {
  location.hash = address(null, filterState());
}

function bar(key) {
  const among = shownCells();
  const index = among.findIndex((cell) => cell.dataset.key === key);
  const go = (offset, label) => {
    const next = among[index + offset];
    return make("button", {
      type: "button", disabled: !next || index < 0, class: offset < 0 ? "previous" : "next",
      on: { click: () => { location.hash = linkTo(next.dataset.key); } },
    }, label);
  };
  const copyLink = make("button", { type: "button", on: { click: () => copy(location.href) } }, "Copy link");
  return make("div", { class: "bar" }, go(-1, "Previous"), go(1, "Next"),
    make("span", { class: "muted" }, index < 0 ? "" : `${index + 1} of ${among.length}`),
    make("span", { class: "space" }), copyLink,
    make("button", { type: "button", class: "close", on: { click: close } }, "Close"));
}

function setOpen(isOpen) {
  panel.hidden = !isOpen;
  document.body.classList.toggle("has-panel", isOpen);
  pageElement.inert = isOpen && narrow.matches;
}

function mark(key) {
  for (const cell of cells) cell.removeAttribute("aria-current");
  cellByKey.get(key)?.setAttribute("aria-current", "true");
}

async function open(key, check) {
  const report = await data.report();
  if (parsed().key !== key) return;
  const isCurrent = () => current === key;
  if (current !== key) {
    const known = Object.hasOwn(report.cells, key);
    current = key;
    setOpen(true);
    mark(key);
    panel.scrollTop = 0;
    if (!known) {
      panel.replaceChildren(bar(key), make("h2", { id: "panel-title", tabindex: -1 }, "No such result"),
        make("p", null, "This report has no result named ", make("code", null, key), "."));
    } else {
      fillPanel(key, report.cells[key], report, bar(key));
      const cell = cellByKey.get(key);
      opener = cell;
      takeStop(cell);
      if (!narrow.matches) cell.scrollIntoView({ block: "nearest" });
    }
    document.getElementById("panel-title").focus({ preventScroll: true });
    if (known) {
      panel.setAttribute("aria-busy", "true");
      await fillWire(report.cells[key], isCurrent);
      if (isCurrent()) panel.removeAttribute("aria-busy");
      performance.mark("opened");
    }
  }
  if (isCurrent() && check) showCheck(check);
}

function showCheck(check) {
  for (const item of panel.querySelectorAll(".check")) {
    const isIt = item.dataset.check === check;
    item.classList.toggle("found", isIt);
    if (!isIt) continue;
    const fold = item.closest("details");
    if (fold) fold.open = true;
    item.scrollIntoView({ block: "center" });
  }
}

function shut() {
  if (current === null) return;
  current = null;
  setOpen(false);
  panel.replaceChildren();
  mark(null);
  if (opener && !opener.hidden) opener.focus();
  else search.focus();
}

async function follow() {
  if (/^#[^/?]/.test(location.hash)) return; // a place on the page, such as the gate
  const { key, parameters } = parsed();
  setFilters(parameters);
  await applyFilters();
  if (key === null) shut();
  else await open(key, parameters.check);
}

function filtersChanged() {
  const { key } = parsed();
  history.replaceState(null, "", address(key, filterState()) || "#");
  applyFilters();
}

function clearFilters() {
  setFilters({});
  filtersChanged();
  search.focus();
}

addEventListener("hashchange", follow);
narrow.addEventListener("change", () => setOpen(current !== null));
document.getElementById("filters").addEventListener("input", filtersChanged);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  clearFilters();
});
document.getElementById("all").addEventListener("click", clearFilters);

document.addEventListener("click", (event) => {
  const cell = event.target.closest?.("a.cell");
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!cell || !isPlain) return;
  event.preventDefault();
  location.hash = linkTo(cell.dataset.key);
});

document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  const cell = event.target.closest?.("a.cell");
  if (event.key === "Escape" && current !== null) {
    event.preventDefault();
    close();
  } else if (event.key === "/" && !event.target.closest?.("input, textarea") && !pageElement.inert) {
    event.preventDefault();
    search.focus();
  } else if (cell && /^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(event.key)) {
    event.preventDefault();
    const next = neighbour(cell, event.key);
    if (next) {
      takeStop(next);
      next.focus();
    }
  }
});

document.addEventListener("DOMContentLoaded", async () => {
  await follow();
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
});
