// The filters of the report; without this script the page is complete, only unfiltered.
"use strict";
const form = document.getElementById("filters");
const find = document.getElementById("find");
const unfold = document.getElementById("unfold");
const questions = [...document.querySelectorAll(".q")].map((row) => ({
  row,
  flags: row.dataset.flags.split(" "),
  text: row.textContent.toLowerCase(),
  cells: [],
}));
const byId = new Map(questions.map((question) => [question.row.id, question]));
for (const cell of document.querySelectorAll("[data-q]")) byId.get(`q${cell.dataset.q}`).cells.push(cell);

function filter() {
  const wanted = [...form.querySelectorAll("input:checked")].map((box) => box.value);
  const words = find.value.trim().toLowerCase();
  let shown = 0;
  for (const { row, flags, text, cells } of questions) {
    const fits = (!wanted.length || wanted.some((flag) => flags.includes(flag))) && text.includes(words);
    row.hidden = !fits;
    for (const cell of cells) cell.classList.toggle("off", !fits);
    shown += fits;
  }
  document.getElementById("count").textContent = `${shown} of ${questions.length} questions shown`;
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !target.classList.contains("q")) return;
  target.hidden = false; // a link to a question shows it, whatever the filter says
  target.open = true;
  target.scrollIntoView();
  target.querySelector("summary")?.focus({ preventScroll: true }); // a line without details has none
}

function unfoldAll(open) {
  for (const { row } of questions) row.open = open;
  unfold.setAttribute("aria-pressed", String(open));
}

let folded = [];
addEventListener("beforeprint", () => {
  folded = questions.filter(({ row }) => !row.open);
  for (const { row } of folded) row.open = true;
});
addEventListener("afterprint", () => {
  for (const { row } of folded) row.open = false;
});
addEventListener("hashchange", openTarget);
for (const cell of document.querySelectorAll("td[data-q]")) {
  cell.classList.add("leads"); // for a pointer only; the number above it is the link
  cell.addEventListener("click", () => document.querySelector(`a[data-q="${cell.dataset.q}"]`).click());
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
unfold.addEventListener("click", () => unfoldAll(unfold.getAttribute("aria-pressed") !== "true"));
form.hidden = false;
filter();
openTarget();
