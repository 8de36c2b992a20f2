// The drawer with everything behind an answer. It holds rejected text, and says so.

import { trace } from "./client.js";
import { el, icon, seconds } from "./dom.js";

const drawer = document.getElementById("drawer");
const body = document.getElementById("drawer-body");

document.getElementById("drawer-close").addEventListener("click", () => drawer.close());
drawer.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function found(one) {
  const place = [one.title, ...one.place].join(" › ");
  return el(
    "li",
    { class: one.cited ? "cited" : null },
    el("div", { class: "found-head" },
      el("strong", { dir: "auto" }, place),
      one.cited ? el("span", { class: "badge current" }, "Cited") : null,
      el("span", { class: "faint" }, one.found_by.join(" + "))),
    el("p", { dir: "auto", class: "excerpt" }, one.excerpt),
  );
}

function checkLine(check) {
  const state = check.passed === null ? "could not check" : check.passed ? "passed" : "failed";
  return el("li", { class: state.replaceAll(" ", "-") }, el("span", { class: "check-name" }, `${check.name}: ${state}`), ` ${check.detail}`);
}

function drafted(claim) {
  const open = claim.status === "open";
  const state = claim.passed ? "passed" : open ? "open" : "rejected";
  const verdict = claim.passed
    ? `Verified: ${claim.support}`
    : `${open ? "Nothing has shown it" : "Rejected"}${claim.reason && !open ? `: ${claim.reason}` : ""}`;
  return el(
    "li",
    { class: state },
    el("p", { class: "drafted", dir: "auto" }, claim.text),
    el("p", { class: "verdict-line" }, icon(claim.passed ? "check" : open ? "info" : "cross"), el("strong", {}, verdict)),
    el("p", { class: "faint", dir: "auto" }, claim.why),
    claim.instead ? el("p", { class: "instead", dir: "auto" }, el("strong", {}, "In its place, in the source’s words: "), claim.instead) : null,
    claim.withheld ? el("p", { class: "faint", dir: "auto" }, `Nothing was shown in its place: ${claim.withheld}.`) : null,
    claim.quotes.map((quote) => el("blockquote", { dir: "auto" }, quote)),
    claim.checks.length
      ? el("details", {}, el("summary", {}, counted(claim.checks.length, "check")), el("ul", { class: "checks" }, claim.checks.map(checkLine)))
      : null,
  );
}

function attempt(one) {
  const title = one.number === 1 ? "Drafted" : `Asked again (attempt ${one.number})`;
  const cost = [seconds(one.seconds), one.tokens ? `${one.tokens.toLocaleString("en")} tokens` : null];
  return el(
    "section",
    {},
    el("h3", {}, title, el("span", { class: "faint" }, cost.filter(Boolean).join(" · "))),
    one.detail ? el("p", { dir: "auto" }, one.detail) : null,
    one.problems.map((problem) => el("p", { class: "rejected", dir: "auto" }, problem)),
    one.claims.length
      ? el("ol", { class: "claims" }, one.claims.map(drafted))
      : el("p", { class: "faint" }, "No claim was drafted: the generator says that the passages do not answer the question."),
  );
}

function timings(view) {
  const names = { retrieve: "Search", generate: "Draft", verify: "Check" };
  const rows = Object.entries(names).map(([key, name]) =>
    el("div", { class: "timing" },
      el("span", {}, name),
      el("meter", { min: 0, max: view.timings.total || 1, value: view.timings[key], "aria-label": `${name}: ${seconds(view.timings[key])}` }),
      el("span", { class: "faint" }, seconds(view.timings[key]))),
  );
  const tokens = view.usage.input_tokens + view.usage.output_tokens + view.usage.cache_read_tokens + view.usage.cache_write_tokens;
  const used = tokens
    ? `${tokens.toLocaleString("en")} tokens in ${counted(view.usage.calls, "call")} (${view.usage.input_tokens.toLocaleString("en")} in, ${view.usage.output_tokens.toLocaleString("en")} out).`
    : "No tokens: no model was called.";
  return el("section", {}, el("h3", {}, "Time and tokens", el("span", { class: "faint" }, seconds(view.timings.total))), rows, el("p", { class: "faint" }, used));
}

function writer(view) {
  const name = view.generator === "extractive" ? "The built-in generator, no model" : view.generator;
  return el("p", { class: "writer", dir: "auto" }, `${name} · ${counted(view.attempts.length, "draft")} · ${seconds(view.timings.total)}`);
}

function rules(view) {
  const rows = Object.entries(view.policy).map(([name, value]) =>
    el("div", {}, el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, value)));
  return el("details", { class: "rules" }, el("summary", {}, "Rules in force"),
    el("dl", { class: "facts" }, rows, el("div", {}, el("dt", {}, "Fingerprint"), el("dd", { class: "code" }, view.fingerprint))));
}

export async function openTrace(id) {
  body.replaceChildren(el("p", { class: "hint" }, "Loading …"));
  drawer.showModal();
  try {
    const view = await trace(id);
    body.replaceChildren(
      el("p", { class: "warning" }, "For those who check: this also shows drafts that were rejected. They are not part of any answer."),
      writer(view),
      el("section", {},
        el("h3", {}, "Retrieved", el("span", { class: "faint" }, counted(view.retrieved.length, "passage"))),
        el("ol", { class: "retrieved" }, view.retrieved.map(found))),
      ...view.attempts.map(attempt),
      timings(view),
      rules(view),
    );
    body.scrollTop = 0;
  } catch (error) {
    body.replaceChildren(el("p", { class: "hint" }, error.message));
  }
}
