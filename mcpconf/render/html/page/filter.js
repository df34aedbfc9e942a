// Which results are shown: those that every filter in use lets through.

const FILTERS = ["outcome", "attribution", "source"];
const cells = [...document.querySelectorAll("a.cell")];
const cellByKey = new Map(cells.map((cell) => [cell.dataset.key, cell]));
const rows = [...document.querySelectorAll(".matrix tbody tr")];
const tables = [...document.querySelectorAll(".table")];
const search = document.getElementById("search");

function boxes(name) {
  return [...document.querySelectorAll(`input[name="${name}"]`)];
}

function chosen(name) {
  return boxes(name).filter((box) => box.checked).map((box) => box.value);
}

function filterState() {
  const state = {};
  for (const name of FILTERS) {
    const values = chosen(name);
    if (values.length) state[name] = values.join(",");
  }
  if (search.value.trim()) state.q = search.value;
  return state;
}

function setFilters(state) {
  for (const name of FILTERS) {
    const values = new Set((state[name] || "").split(","));
    for (const box of boxes(name)) box.checked = values.has(box.value);
  }
  if (search.value !== (state.q || "")) search.value = state.q || "";
}

let texts = null;

// The words of each case, small letters: its scenario, check ids and details.
async function searchTexts() {
  if (texts === null) {
    const report = await data.report();
    texts = new Map();
    for (const [key, value] of Object.entries(report.cells)) {
      const words = [key, value.reason, value.silence || ""];
      for (const check of value.checks) words.push(check.check_id || "", check.name, check.detail);
      texts.set(key, words.join("\n").toLowerCase());
    }
  }
  return texts;
}

let turn = 0;

async function applyFilters() {
  const mine = ++turn;
  const wanted = FILTERS.map((name) => [name, new Set(chosen(name))]).filter(([, set]) => set.size);
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const known = terms.length ? await searchTexts() : null;
  if (mine !== turn) return; // a later one has begun
  let count = 0;
  for (const cell of cells) {
    const isWanted = wanted.every(([name, set]) =>
      cell.dataset[name].split(" ").some((value) => set.has(value)));
    const text = known ? known.get(cell.dataset.key) || "" : "";
    cell.hidden = !(isWanted && terms.every((term) => text.includes(term)));
    if (!cell.hidden) count += 1;
  }
  for (const row of rows) row.hidden = !row.querySelector("a.cell:not([hidden])");
  for (const table of tables) table.hidden = !table.querySelector("tbody tr:not([hidden])");
  document.getElementById("nothing").hidden = count > 0 || cells.length === 0;
  const isWhole = count === cells.length;
  document.getElementById("shown").textContent =
    isWhole ? counted(count, "result") : `${count} of ${counted(cells.length, "result")}`;
  document.getElementById("reset").disabled = Object.keys(filterState()).length === 0;
  setTabStops();
}

function shownCells() {
  return cells.filter((cell) => !cell.hidden);
}

// One tab stop a table; arrow keys do the rest.
function setTabStops() {
  for (const table of tables) {
    const inside = [...table.querySelectorAll("a.cell")];
    const visible = inside.filter((cell) => !cell.hidden);
    const stop = visible.find((cell) => cell.tabIndex === 0 && cell.hasAttribute("tabindex")) || visible[0];
    for (const cell of inside) cell.tabIndex = cell === stop ? 0 : -1;
  }
}

function takeStop(cell) {
  for (const each of cell.closest(".table").querySelectorAll("a.cell")) each.tabIndex = -1;
  cell.tabIndex = 0;
}

function place(cell) {
  const row = cell.closest("tr");
  return [rows.indexOf(row), [...row.children].indexOf(cell.parentElement)];
}

// The next shown result that way; none at an edge.
function neighbour(cell, key) {
  const [y, x] = place(cell);
  const at = (j, i) => rows[j]?.children[i]?.querySelector("a.cell:not([hidden])");
  const inRow = [...rows[y].querySelectorAll("a.cell:not([hidden])")];
  if (key === "Home") return inRow[0];
  if (key === "End") return inRow.at(-1);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    return inRow[inRow.indexOf(cell) + (key === "ArrowLeft" ? -1 : 1)];
  }
  const step = key === "ArrowUp" ? -1 : 1;
  for (let j = y + step; rows[j]; j += step) {
    const found = at(j, x) || (rows[j].closest("table") !== rows[y].closest("table")
      && rows[j].querySelector("a.cell:not([hidden])"));
    if (found) return found;
  }
  return undefined;
}
