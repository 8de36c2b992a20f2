// Puts the page together.

import { fail, pending, question as asked, render, told } from "./answer.js";
import { ask, newChat, openSession, removeUploads, ServiceError, suggestions, upload } from "./client.js";
import { el, say } from "./dom.js";
import { close, showFirst } from "./source.js";

const get = (id) => document.getElementById(id);
const [log, welcome, form, input, corpus, asOf] = ["log", "welcome", "composer", "question", "corpus", "as-of"].map(get);
const [sendButton, stopButton, fileInput, attach, remove] = ["send", "stop", "file", "attach", "remove"].map(get);

const AGAIN = 2000; // milliseconds
let opening = null;
let running = null;

function today() {
  return new Date().toISOString().slice(0, 10);
}

function chosen() {
  return opening.corpora.find((one) => one.id === corpus.value);
}

function offer() {
  const one = chosen();
  asOf.value = one.today || today();
  get("suggestions").replaceChildren();
  propose(one.id);
}

// For documents of one's own the questions are made while the page is open already.
async function propose(id) {
  const offered = await suggestions(id).catch(() => ({ questions: [], complete: true }));
  if (corpus.value !== id) return;
  const list = get("suggestions");
  for (const suggestion of offered.questions.slice(list.childElementCount)) {
    list.append(
      el("li", {},
        el("button", { type: "button", class: "suggestion", onclick: () => suggest(suggestion) },
          el("span", { class: "suggestion-label", dir: "auto" }, suggestion.label),
          el("span", { dir: "auto" }, suggestion.question))));
  }
  if (!offered.complete && !welcome.hidden) setTimeout(() => corpus.value === id && propose(id), AGAIN);
}

function suggest(suggestion) {
  if (suggestion.as_of) asOf.value = suggestion.as_of;
  start(suggestion.question);
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function begin() {
  opening = await openSession();
  const before = corpus.value;
  corpus.replaceChildren(...opening.corpora.map((one) =>
    el("option", { value: one.id }, one.title)));
  if (opening.corpora.some((one) => one.id === before)) corpus.value = before;
  fileInput.accept = opening.accepted.join(",");
  input.maxLength = opening.question_characters;
  const added = opening.uploads;
  get("uploads").textContent = added.length ? `${counted(added.length, "document")} added: ${added.join(", ")}` : "";
  get("uploads").title = added.join("\n");
  remove.hidden = !added.length;
  offer();
}

function busy(on) {
  sendButton.hidden = on;
  stopButton.hidden = !on;
}

// Only the conversation scrolls: the latest question to its top, or a last line into sight.
const chat = log.parentElement;
function scrollTo(node) {
  if (node) chat.scrollTop = node.offsetTop - 16;
}
function scrollDown() {
  chat.scrollTop = chat.scrollHeight;
}

async function start(text) {
  if (running || !text.trim()) return;
  welcome.hidden = true;
  const shown = pending();
  log.append(asked(text), shown.box);
  await run(text, corpus.value, asOf.value, shown);
}

async function run(text, corpusId, date, shown) {
  const box = shown.box;
  const again = () => {
    const next = pending();
    box.replaceWith(next.box);
    run(text, corpusId, date, next);
  };
  close();
  const asking = [...log.querySelectorAll(".question")].at(-1);
  scrollTo(asking);
  running = new AbortController();
  busy(true);
  let ended = false;
  try {
    for await (const event of ask(text, corpusId, date, running.signal)) {
      if (event.name === "progress") shown.progress(event.data);
      else if (event.name === "followup") shown.followUp(event.data);
      else if (event.name === "correction") shown.correction(event.data);
      else if (event.name === "claim") shown.claim(event.data);
      else if (event.name === "answer") {
        ended = true;
        render(box, event.data);
        say("");
        showFirst(event.data);
      } else if (event.name === "failure") {
        ended = true;
        fail(box, event.data, event.data.again ? again : null);
      }
    }
    if (!ended) fail(box, { kind: "network", message: "The connection ended before the answer was complete." }, again);
  } catch (error) {
    if (error.name === "AbortError") fail(box, { kind: "stopped", message: "You stopped this question." }, again);
    else if (error.kind === "session") await renew(box, again);
    else fail(box, error instanceof ServiceError ? error : { kind: "network", message: "The connection was lost." }, again);
  } finally {
    running = null;
    busy(false);
    scrollTo(asking);
  }
}

async function renew(box, again) {
  await begin();
  fail(box, { kind: "session", message: "Your session had ended, and a new one was started.", hint: "Documents that you had added are gone: add them again." }, again);
}

async function addFile(file) {
  if (!file) return;
  welcome.hidden = true;
  const line = told("working", `Reading “${file.name}” …`);
  log.append(line);
  scrollDown();
  attach.disabled = true;
  try {
    if (file.size > opening.upload_bytes) {
      throw new ServiceError(413, { message: `The file is larger than ${Math.round(opening.upload_bytes / 1e6)} MB.` });
    }
    const added = await upload(file);
    await begin();
    const one = chosen();
    line.replaceWith(told("done", `“${added.name}” was added. Questions are answered from it and from ${counted(one.documents, "document")} of ${one.title}.`, ...added.warnings));
    input.focus();
  } catch (error) {
    const failed = told("failed", `“${file.name}” was not added. ${error.message}`, ...(error.hint ? [error.hint] : []));
    line.replaceWith(failed);
  } finally {
    attach.disabled = false;
    fileInput.value = "";
    scrollDown();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (running) return;
  const text = input.value;
  if (!text.trim()) {
    input.focus();
    return;
  }
  input.value = "";
  grow();
  start(text);
});
input.addEventListener("keydown", (event) => {
  // Enter also ends the composition of Chinese, Japanese and Korean text: that is no sending.
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
function grow() {
  input.rows = Math.min(6, Math.max(1, input.value.split("\n").length, Math.ceil(input.value.length / 70)));
}
input.addEventListener("input", grow);
stopButton.addEventListener("click", () => running?.abort());
corpus.addEventListener("change", offer);
attach.addEventListener("click", () => fileInput.click());
fileInput.addEventListener("change", () => addFile(fileInput.files[0]));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  addFile(event.dataTransfer.files[0]);
});
function clear() {
  running?.abort();
  log.replaceChildren();
  welcome.hidden = false;
  close();
  input.focus();
}
get("new-chat").addEventListener("click", async () => {
  clear();
  await newChat();
});
remove.addEventListener("click", async () => {
  try {
    await removeUploads();
    clear();
    await begin();
    say("Your documents were removed.");
  } catch (error) {
    log.append(told("failed", error.message));
    scrollDown();
  }
});

const theme = get("theme");
function paint(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.setAttribute("aria-pressed", String(dark));
}
const wished = localStorage.getItem("theme");
paint(wished ? wished === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches);
theme.addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme !== "dark";
  localStorage.setItem("theme", dark ? "dark" : "light");
  paint(dark);
});

begin().then(
  () => document.body.setAttribute("data-ready", ""),
  (error) => {
    log.append(told("failed", error.message, "Reload the page to try again."));
  },
);
