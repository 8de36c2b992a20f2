// Shows the blocks of a passage or of a claim, with the quote marked.

import { el, icon, say } from "./dom.js";

export function segments(list) {
  return list.map((one) => {
    const text = one.code ? el("code", {}, one.text) : document.createTextNode(one.text);
    return one.quoted ? el("mark", {}, text) : text;
  });
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
  // A wide table scrolls in its own box: no column is squeezed until its words break.
  return el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", {}, block.header.length ? el("thead", {}, head) : null, el("tbody", {}, rows)));
}

function items(block) {
  return el("ul", { class: "items" }, block.items.map((one) =>
    el("li", { class: `level-${one.level}${one.marker ? " marked" : ""}`, dir: "auto" },
      one.marker ? [el("span", { class: "marker" }, one.marker), " "] : [],
      el("span", {}, segments(one.segments)))));
}

function code(block) {
  const text = block.segments.map((one) => one.text).join("");
  const copy = el("button", { type: "button", class: "copy quiet square", "aria-label": "Copy the code" }, icon("copy"));
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      say("It could not be copied.");
    }
  });
  const marked = block.segments.map((one) => (one.quoted ? el("mark", {}, one.text) : one.text));
  return el("div", { class: "code-block" }, el("pre", { tabindex: "0", dir: "ltr" }, el("code", {}, marked)), copy);
}

export function block(one) {
  if (one.kind === "table") return table(one);
  if (one.kind === "list") return items(one);
  if (one.kind === "code") return code(one);
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
