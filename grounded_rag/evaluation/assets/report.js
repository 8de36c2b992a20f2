"use strict";
(function () {
  const table = document.getElementById("items");
  if (!table) { return; }
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const selects = Array.from(document.querySelectorAll("[data-filter]"));
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const answers = new Map();
  document.querySelectorAll("details.answer").forEach((node) => answers.set(node.dataset.row, node));

  function matches(row) {
    const words = search.value.trim().toLowerCase();
    if (words && !row.textContent.toLowerCase().includes(words)) { return false; }
    return selects.every((one) => !one.value || row.dataset[one.dataset.filter] === one.value);
  }
  function apply() {
    let count = 0;
    rows.forEach((row) => {
      const keep = matches(row);
      row.hidden = !keep;
      count += keep ? 1 : 0;
      const answer = answers.get(row.dataset.row);
      if (answer) { answer.hidden = !keep; }
    });
    shown.textContent = count + " of " + rows.length;
  }
  function sort(header, index) {
    const down = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = new Intl.Collator(undefined, { numeric: true }).compare;
    rows.sort((a, b) => compare(a.cells[index].textContent, b.cells[index].textContent) * (down ? -1 : 1));
    rows.forEach((row) => body.appendChild(row));
  }
  table.querySelectorAll("th").forEach((header, index) => {
    const button = header.querySelector("button");
    if (button) { button.addEventListener("click", () => sort(header, index)); }
  });
  selects.forEach((one) => one.addEventListener("change", apply));
  search.addEventListener("input", apply);
  document.querySelectorAll("a[data-open]").forEach((link) => link.addEventListener("click", () => {
    const answer = answers.get(link.dataset.open);
    if (answer) { answer.open = true; }
  }));
  apply();
})();
