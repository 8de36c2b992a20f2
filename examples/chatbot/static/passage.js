// Shows a passage with the quote marked.

import { el } from "./dom.js";

export function segments(list) {
  return list.map((one) => (one.quoted ? el("mark", {}, one.text) : document.createTextNode(one.text)));
}

function table(block) {
  const head = el("tr", {}, block.header.map((cell) => el("th", { scope: "col", dir: "auto" }, cell)));
  const rows = block.rows.map((row) =>
    el(
      "tr",
      { class: row.quoted ? "quoted" : null },
      row.cells.map((cell) => el("td", { dir: "auto" }, segments(cell))),
    ),
  );
  return el("table", {}, el("thead", {}, head), el("tbody", {}, rows));
}

function block(one) {
  if (one.kind === "table") return table(one);
  const kind = one.kind === "heading" ? "passage-heading" : `passage-${one.kind}`;
  return el("p", { class: kind, dir: "auto" }, segments(one.segments));
}

// Which blocks to show at first: the quoted ones, and a neighbour on each side.
function near(blocks) {
  const quoted = blocks.flatMap((one, index) => (one.quoted ? [index] : []));
  if (!quoted.length) return blocks.map((_, index) => index < 3);
  const [first, last] = [quoted[0] - 1, quoted[quoted.length - 1] + 1];
  return blocks.map((_, index) => index >= first && index <= last);
}

export function passage(blocks, label) {
  const shown = near(blocks);
  const nodes = blocks.map(block);
  const hidden = nodes.filter((_, index) => !shown[index]);
  for (const node of hidden) node.hidden = true;
  const paper = el("div", { class: "paper", tabindex: "0", role: "region", "aria-label": label }, nodes);
  if (!hidden.length) return [paper];
  const more = el("button", { type: "button", class: "link", "aria-expanded": "false" }, "Show the whole passage");
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") === "true";
    for (const node of hidden) node.hidden = open;
    more.setAttribute("aria-expanded", String(!open));
    more.textContent = open ? "Show the whole passage" : "Show less";
  });
  return [paper, more];
}
