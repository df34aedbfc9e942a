"use strict";
// Elements, made of text alone: no string of a report is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") {
      for (const [event, does] of Object.entries(value)) element.addEventListener(event, does);
    } else if (key === "class") {
      element.className = value;
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat()) {
    if (child || child === 0) element.append(child);
  }
  return element;
}

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

function isolated(text) {
  return make("bdi", null, text);
}

// Only what is plainly the web becomes a link.
function reference(page) {
  if (!/^https?:\/\//.test(page)) return isolated(page);
  return make("a", { href: page, rel: "noreferrer" }, page);
}

function counted(number, noun) {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

function say(text) {
  document.getElementById("said").textContent = text;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from a file may be refused the clipboard.
    const field = make("textarea", { class: "hidden", "aria-hidden": true });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say("Copied.");
}

function copyButton(text, title, hint) {
  const button = make("button", { type: "button", class: "small copy", title: hint }, title);
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = "Copied";
    button.focus();
  });
  return button;
}

// A command, broken between its words only, and a button that copies it.
function copyable(text) {
  const words = text.split(" ").flatMap((word) => [" ", make("span", { class: "word-of-line" }, word)]);
  return make("div", { class: "copyable" }, make("code", null, words.slice(1)), copyButton(text, "Copy", text));
}
