// Speaks to the service.

const OWN = { "x-chatbot": "1" };

export class ServiceError extends Error {
  constructor(status, body) {
    super(body.message || "The service did not answer.");
    this.status = status;
    this.kind = body.error || "internal";
    this.hint = body.hint || "";
    this.retryAfter = body.retry_after || 0;
  }
}

async function checked(response) {
  if (response.ok) return response;
  let body = {};
  try {
    body = await response.json();
  } catch {
    // A proxy in between may answer with anything.
  }
  throw new ServiceError(response.status, body);
}

async function send(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...OWN, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, {
      error: "network",
      message: "The service cannot be reached.",
      hint: "Check that it is running, then try again.",
    });
  }
  return checked(response);
}

function json(body) {
  return { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

export async function openSession() {
  return (await send("/api/session", { method: "POST" })).json();
}

export async function suggestions(corpus) {
  return (await send(`/api/corpora/${encodeURIComponent(corpus)}/suggestions`)).json();
}

export async function newChat() {
  await send("/api/chat", { method: "DELETE" });
}

export async function trace(answer) {
  return (await send(`/api/answers/${answer}/trace`)).json();
}

export async function pagePlan(answer, number) {
  return (await send(`/api/answers/${answer}/pages/${number}`)).json();
}

export async function feedback(answer, verdict, reason) {
  await send(`/api/answers/${answer}/feedback`, json({ verdict, reason }));
}

export async function upload(file) {
  const path = `/api/uploads?name=${encodeURIComponent(file.name)}`;
  return (await send(path, { method: "POST", body: file })).json();
}

export async function removeUploads() {
  await send("/api/uploads", { method: "DELETE" });
}

// Yields {name, data} for each server-sent event of one question.
export async function* ask(question, corpus, asOf, signal) {
  const response = await send("/api/ask", {
    ...json({ question, corpus, as_of: asOf || null }),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    let end;
    while ((end = waiting.indexOf("\n\n")) >= 0) {
      const event = parse(waiting.slice(0, end));
      waiting = waiting.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parse(text) {
  let name = "message";
  const data = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
