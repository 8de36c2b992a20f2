// The source card: title, dates, the quote in its paragraph, and the page of a PDF.

import { pagePlan } from "./client.js";
import { date, el, icon, shape } from "./dom.js";
import { passage } from "./passage.js";

const panel = document.getElementById("source");
const empty = panel.firstElementChild;
const wide = window.matchMedia("(min-width: 60rem)");
let shown = { answer: null, number: null };
let opener = null;
let returning = false;

export function badges(source) {
  return source.badges.map((badge) => el("span", { class: `badge ${badge.kind}` }, badge.label));
}

function facts(source) {
  const rows = source.dates.map((line) => [line.label, date(line.date)]);
  rows.push(["File", source.file]);
  return el(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, value))),
  );
}

function picture(answer, source) {
  const box = el("figure", { class: "page" }, el("p", { class: "hint" }, "Opening the page …"));
  pagePlan(answer.id, source.number).then(
    (plan) => {
      const image = el("img", {
        src: `/api/answers/${answer.id}/pages/${source.number}/picture`,
        width: plan.width,
        height: plan.height,
        alt: `Page ${plan.page} of ${source.title}. The quote is marked.`,
      });
      const marks = plan.marks.map((m) =>
        shape("rect", { x: m.x - 2, y: m.y - 1, width: m.width + 4, height: m.height + 2, rx: 3 }),
      );
      const layer = shape("svg", { viewBox: `0 0 ${plan.width} ${plan.height}`, "aria-hidden": "true" }, ...marks);
      const told = plan.marks.length ? "" : " The quote could not be marked on the picture.";
      box.replaceChildren(
        el("div", { class: "page-picture" }, image, layer),
        el("figcaption", {}, `Page ${plan.page} of ${plan.pages}.${told}`),
      );
    },
    () => box.replaceChildren(el("p", { class: "hint" }, "The picture of the page cannot be shown.")),
  );
  return box;
}

function card(answer, source) {
  const notes = answer.notes.filter((note) => note.current && note.numbers.includes(source.number));
  const tabs = answer.sources.length > 1 ? [tabsOf(answer, source.number)] : [];
  return [
    el(
      "div",
      { class: "source-head" },
      el("h2", {}, el("span", { class: "mark-label" }, String(source.number)), el("span", { dir: "auto" }, source.title)),
      el("button", { type: "button", class: "quiet square close", "aria-label": "Close the source", onclick: close }, icon("close")),
    ),
    ...tabs,
    el("p", { class: "where", dir: "auto" }, [...source.place, source.page ? `page ${source.page}` : null].filter(Boolean).join(" › ")),
    el("p", { class: "badges" }, badges(source)),
    ...notes.map((note) =>
      el("p", { class: "replaced" }, "In force instead: ", el("strong", { dir: "auto" }, note.current)),
    ),
    ...passage(source.blocks, `Passage of ${source.title}`),
    el(
      "p",
      { class: "verdict" },
      icon("check"),
      source.exact
        ? "The quote stands here character for character."
        : "The quote stands here; only its presentation differed, such as line breaks.",
    ),
    ...(source.picture ? [picture(answer, source)] : []),
    facts(source),
  ];
}

function tabsOf(answer, current) {
  return el(
    "div",
    { class: "tabs", role: "group", "aria-label": "Sources of this answer" },
    answer.sources.map((source) =>
      el(
        "button",
        {
          type: "button",
          class: "mark",
          "aria-pressed": String(source.number === current),
          "aria-label": `Source ${source.number}: ${source.title}`,
          onclick: () => {
            show(answer, source.number, opener);
            panel.querySelector(".tabs [aria-pressed=true]").focus();
          },
        },
        String(source.number),
      ),
    ),
  );
}

function pressed() {
  for (const mark of document.querySelectorAll(".log .mark")) {
    const on = mark.dataset.answer === shown.answer && mark.dataset.number === String(shown.number);
    mark.setAttribute("aria-expanded", String(on));
  }
  for (const claim of document.querySelectorAll(".log .claim")) {
    claim.classList.toggle("active", Boolean(claim.querySelector(".mark[aria-expanded=true]")));
  }
}

export function show(answer, number, from = null) {
  if (returning) return;
  opener = from || opener;
  if (shown.answer === answer.id && shown.number === number && panel.classList.contains("open")) return;
  shown = { answer: answer.id, number };
  const source = answer.sources.find((one) => one.number === number);
  panel.replaceChildren(...card(answer, source));
  panel.classList.add("open");
  panel.scrollTop = 0;
  const paper = panel.querySelector(".paper");
  const mark = paper.querySelector("mark");
  if (mark) paper.scrollTop = Math.max(0, mark.offsetTop - paper.offsetTop - 60);
  pressed();
  if (!wide.matches && from) keepInSight(from);
}

// On a small screen the card covers the lower part: the sentence goes to the top.
function keepInSight(button) {
  const answer = button.closest(".answer");
  const claim = button.closest(".claim");
  answer.parentElement.parentElement.scrollTop = answer.offsetTop + claim.offsetTop - 12;
}

export function showFirst(answer) {
  if (wide.matches && answer.sources.length) show(answer, answer.sources[0].number);
}

export function close() {
  if (!panel.classList.contains("open")) return;
  const had = panel.contains(document.activeElement);
  panel.classList.remove("open");
  panel.replaceChildren(empty);
  shown = { answer: null, number: null };
  pressed();
  if (had && opener) {
    returning = true;
    opener.focus();
    returning = false;
  }
}

export function enter() {
  panel.focus();
}

// A number in an answer: hover, focus or tap shows its source; Enter goes there.
export function mark(answer, number) {
  const source = answer.sources.find((one) => one.number === number);
  const button = el("button", {
    type: "button",
    class: "mark",
    "aria-label": `Source ${number}: ${source.title}`,
    "aria-controls": "source",
    "aria-expanded": "false",
    "data-answer": answer.id,
    "data-number": number,
  }, String(number));
  button.addEventListener("focus", () => {
    // A tap focuses before it clicks: moving the page in between would lose the click.
    if (wide.matches || button.matches(":focus-visible")) show(answer, number, button);
  });
  button.addEventListener("mouseenter", () => wide.matches && show(answer, number, button));
  button.addEventListener("click", (event) => {
    show(answer, number, button);
    // A click without a pointer is a key: take its user along.
    if (event.detail === 0) enter();
  });
  return button;
}

document.addEventListener("click", (event) => {
  if (!wide.matches && !event.target.closest("#source, .mark")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) close();
});
