// Shows one answer, refusal or failure.

import { feedback } from "./client.js";
import { date, el, icon, say } from "./dom.js";
import { block, passage, segments } from "./passage.js";
import { badges, mark } from "./source.js";
import { openTrace } from "./trace.js";

const ICONS = { conflict: "split", superseded: "clock", expired: "clock", too_old: "clock", not_yet_effective: "clock" };

export function question(text) {
  return el("div", { class: "question" }, el("span", { class: "visually-hidden" }, "You asked: "), el("p", { dir: "auto" }, text));
}

// A sentence of the source in the place of one that nothing had shown.
function words(one) {
  return one.restated ? [" ", el("small", { class: "words" }, "in the source’s words")] : [];
}

// A longer first sentence is large enough without being bold.
const LONGEST_LEAD = 200;

// What follows a claim: its numbers, and whose words they are where that is not the same for all.
function behind(answer, one) {
  const mixed = answer.claims.some((other) => !other.restated);
  return [...one.numbers.map((number) => [" ", mark(answer, number)]).flat(), ...(mixed ? words(one) : [])];
}

function sentence(answer, one) {
  return el("span", { class: "claim" }, el("span", { class: "said" }, segments(one.blocks[0].segments)), behind(answer, one));
}

// A claim with a list, code or a table in it; its numbers stand behind its last words.
function structured(answer, one) {
  const nodes = one.blocks.map(block);
  const last = nodes.at(-1);
  const end = last.matches("ul") ? last.lastElementChild : last.matches("p") ? last : null;
  const marks = behind(answer, one);
  if (end) end.append(...marks);
  else nodes.push(el("p", {}, marks));
  return el("div", { class: "claim structured", dir: "auto" }, nodes);
}

function part(answer, one) {
  const claims = one.claims.map((index) => answer.claims[index]);
  if (one.kind === "block") return structured(answer, claims[0]);
  if (one.kind === "list") {
    return el("div", { class: "listed" },
      one.lead_in ? el("p", { class: "lead-in", dir: "auto" }, one.lead_in) : null,
      el("ul", { class: "items" }, claims.map((claim, index) =>
        el("li", { class: "claim", dir: "auto" }, el("span", { class: "said" }, one.items[index]), behind(answer, claim)))));
  }
  const long = claims[0].text.length > LONGEST_LEAD;
  return el("p", { class: one.kind === "lead" ? `lead${long ? " long" : ""}` : "more", dir: "auto" },
    claims.flatMap((claim, index) => [index ? " " : "", sentence(answer, claim)]));
}

function note(one) {
  const sides = one.sides.map((side) =>
    el("blockquote", { class: "side" },
      el("p", { class: "side-title", dir: "auto" }, side.title, side.number ? ` (source ${side.number})` : ""),
      el("p", { class: "side-text", dir: "auto" }, side.text),
      el("p", { class: "faint" }, side.dates.map((line) => `${line.label} ${date(line.date)}`).join(" · "))));
  return el("div", { class: `note ${one.kind}` },
    el("p", { class: "note-label" }, icon(ICONS[one.kind] || "info"), one.label),
    el("p", { dir: "auto" }, one.detail, one.since ? ` Since ${date(one.since)}.` : ""),
    one.current ? el("p", {}, "In force instead: ", el("strong", { dir: "auto" }, one.current)) : null,
    sides.length ? el("div", { class: "sides" }, sides) : null);
}

function sources(answer) {
  // One line a document, or a page of it: nobody needs to read the same title for each sentence.
  const lines = Map.groupBy(answer.sources, (source) => `${source.page || 0} ${source.file}`);
  return el("ul", { class: "sources", "aria-label": "Sources" }, [...lines.values()].map((group) =>
    el("li", {}, group.map((source) => el("span", { class: "mark-label" }, String(source.number))),
      el("span", { dir: "auto", class: "source-title" }, group[0].title, group[0].page ? `, page ${group[0].page}` : ""),
      badges(group[0]))));
}

function open(answer) {
  return answer.unanswered.map((part) =>
    el("p", { class: "note open", dir: "auto" }, icon("info"),
      el("span", {}, el("strong", {}, "Not answered: "), el("q", {}, part))));
}

function refusal(view) {
  const nearest = view.nearest.map((source) =>
    el("details", {}, el("summary", {}, el("span", { dir: "auto" }, [source.title, ...source.place.slice(-1)].join(" › "))),
      el("p", { class: "badges" }, badges(source)), ...passage(source.blocks, `Passage of ${source.title}`)));
  return [
    el("p", { class: "refusal-text", dir: "auto" }, view.text),
    el("p", { class: "why" }, el("strong", {}, "Why: "), view.detail),
    view.next_step ? el("p", { class: "why" }, el("strong", {}, "What you can do: "), view.next_step) : null,
    nearest.length
      ? el("section", { class: "nearest", "aria-label": "Nearest passages, not an answer" },
          el("p", { class: "nearest-title" }, "The nearest passages, for you to read yourself"),
          el("p", { class: "faint" }, "They are not an answer: none of them was found to answer the question."),
          ...nearest)
      : null,
  ];
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// In the words of a reader; drafts, tokens and times are in the drawer.
function meta(answer) {
  const read = counted(answer.passages, "passage");
  const parts = [
    answer.refusal ? `Looked through ${read}` : `Checked against ${read}`,
    answer.refusal ? null : counted(answer.documents, "source"),
    answer.corpus,
    answer.as_of ? `as of ${date(answer.as_of)}` : null,
  ];
  return el("p", { class: "cost", dir: "auto" }, parts.filter(Boolean).join(" · "), answer.undated ? `. ${answer.undated}` : "");
}

function thumb(verdict, name) {
  return el("button", { type: "button", class: "quiet square", "aria-label": name, "aria-pressed": "false", "data-verdict": verdict }, icon(verdict));
}

function thumbs(answer) {
  const buttons = [thumb("up", "Good answer"), thumb("down", "Bad answer")];
  const id = `reason-${answer.id}`;
  const reason = el("textarea", { id, rows: "2", maxlength: "2000", dir: "auto" });
  const form = el("form", { class: "feedback", hidden: true }, el("label", { for: id }), reason,
    el("button", { type: "submit", class: "small" }, "Send"));
  const done = el("p", { class: "thanks", hidden: true }, "Thank you. Your feedback is kept on this server.");
  let verdict = null;
  for (const button of buttons) {
    button.addEventListener("click", () => {
      verdict = button.dataset.verdict;
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      form.firstChild.textContent = verdict === "up" ? "What was good? (optional)" : "What was wrong? (optional)";
      form.hidden = false;
      done.hidden = true;
      reason.focus();
      form.scrollIntoView({ block: "nearest" });
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await feedback(answer.id, verdict, reason.value);
      form.hidden = true;
      done.hidden = false;
      say("Feedback sent. Thank you.");
    } catch (error) {
      done.hidden = false;
      done.textContent = error.message;
      say(error.message);
    }
  });
  return { buttons, form: [form, done] };
}

function actions(answer) {
  const { buttons, form } = thumbs(answer);
  return [
    el("div", { class: "actions" },
      el("button", { type: "button", class: "quiet", onclick: () => openTrace(answer.id) }, icon("list"), "How it was checked"),
      el("a", { class: "quiet", href: `/api/answers/${answer.id}/receipt`, download: "" }, icon("file"), "Receipt"),
      el("span", { class: "thumbs" }, ...buttons)),
    ...form,
  ];
}

const STATUS = { answered: "Answer", partial: "Partial answer", refused: "No answer" };

export function render(box, answer) {
  box.className = `answer ${answer.status}`;
  const parts = answer.refusal
    ? refusal(answer.refusal)
    : [...answer.parts.map((one) => part(answer, one)), el("p", { class: "support", dir: "auto" }, `Support: ${answer.support}`), ...open(answer), ...answer.notes.map(note), sources(answer)];
  box.replaceChildren(
    el("h2", { class: "visually-hidden" }, STATUS[answer.status]),
    ...parts.filter(Boolean),
    meta(answer),
    ...actions(answer),
  );
}

const STAGES = {
  waiting: "Waiting for a turn …",
  searching: "Searching the documents …",
  drafting: "Drafting from the passages …",
  checking: "Checking every sentence against its source …",
  asking_again: "Asking again for what did not pass …",
};

export function pending() {
  let stage = "";
  const text = el("p", { class: "stage" }, STAGES.waiting);
  const box = el("div", { class: "answer pending" }, text);
  return {
    box,
    followUp(one) {
      box.before(el("div", { class: "understood" }, el("p", { dir: "auto" }, `Understood as: ${one.question}`)));
    },
    correction(one) {
      box.before(el("div", { class: "note superseded correction" },
        el("p", { class: "note-label" }, icon("clock"), "An earlier answer no longer holds"),
        el("p", { dir: "auto" }, `“${one.question}”`), one.reasons.map((reason) => el("p", { dir: "auto" }, reason))));
    },
    claim(one) {
      text.before(el("div", { class: "claim structured", dir: "auto" }, one.blocks.map(block), icon("check"), words(one)));
    },
    progress(step) {
      text.textContent = STAGES[step.stage] + (step.detail ? ` ${step.detail}` : "");
      if (step.stage !== stage) say(STAGES[step.stage]);
      stage = step.stage;
    },
  };
}

const FAILURES = {
  provider: "The model provider did not deliver. This is not an answer.",
  too_many: "A moment, please.",
  network: "No connection.",
  stopped: "Stopped.",
};

export function fail(box, failure, again) {
  // What was verified before the interruption was shown, and is not taken back.
  const kept = [...box.querySelectorAll(".claim.structured")];
  box.className = "answer failure";
  const retry = again ? el("button", { type: "button", class: "small", onclick: again }, "Ask again") : null;
  box.replaceChildren(
    ...kept,
    ...(kept.length ? [el("p", { class: "faint" }, "This much was verified before it broke off; the answer is not complete.")] : []),
    el("p", { class: "note-label" }, icon("info"), FAILURES[failure.kind] || "That did not work."),
    el("p", { dir: "auto" }, failure.message),
    ...(failure.hint ? [el("p", { class: "faint", dir: "auto" }, failure.hint)] : []),
    ...(failure.retryAfter ? [el("p", { class: "faint" }, `It is worth trying again in ${failure.retryAfter} s.`)] : []),
    ...(retry ? [retry] : []),
  );
}

export function told(kind, ...lines) {
  return el("div", { class: `told ${kind}` }, lines.map((line) => el("p", { dir: "auto" }, line)));
}
