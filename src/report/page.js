// Filters, links to a question, and the way from fault to fault; without this script the page is complete, only unfiltered.
// The address has the state, `#q5&show=cut,figure_missing&find=ref-058`, so that reload, back and a copied link keep it.
"use strict";
const form = document.getElementById("filters");
const find = document.getElementById("find");
const unfold = document.getElementById("unfold");
const bar = document.querySelector("nav");
const count = document.getElementById("count");
const boxes = [...form.querySelectorAll("input[name=show]")];
const questions = [...document.querySelectorAll(".q")].map((row) => ({
  row,
  flags: row.dataset.flags, // the letters of the filters that show it
  text: row.textContent.toLowerCase(),
  cells: [],
}));
const byId = new Map(questions.map((question) => [question.row.id, question]));
for (const cell of document.querySelectorAll("[data-q]")) byId.get(`q${cell.dataset.q}`).cells.push(cell);
for (const link of document.querySelectorAll("[data-show]")) link.hash = `questions&show=${link.dataset.show}`;

function address(place) {
  const shown = boxes.filter((box) => box.checked).map((box) => box.value);
  const parts = [place];
  if (shown.length) parts.push(`show=${shown}`);
  if (find.value.trim()) parts.push(`find=${encodeURIComponent(find.value.trim())}`);
  return parts.join("&") ? `#${parts.join("&")}` : undefined; // as it is
}

function place() {
  return location.hash.slice(1).split("&")[0];
}

// A link that names no filter keeps the one in force; an address of the history, which we have marked, is taken whole.
function arrive() {
  const [, ...parts] = location.hash.slice(1).split("&");
  const told = new URLSearchParams(parts.join("&"));
  if (history.state || parts.length) {
    const shown = (told.get("show") ?? "").split(",");
    for (const box of boxes) box.checked = shown.includes(box.value);
    find.value = told.get("find") ?? "";
  }
  history.replaceState({}, "", address(place()));
  filter();
  const target = document.getElementById(place());
  if (!target) return;
  if (target.classList.contains("q")) open(target);
  clear();
  target.scrollIntoView();
}

// What a link leads to must not lie under the bar, which is as high as its language and the screen make it.
function clear() {
  document.documentElement.style.scrollPaddingTop = `${bar.offsetHeight + 8}px`;
}

function open(row) {
  row.hidden = false; // a link to a question shows it, whatever the filter says
  row.open = true;
  row.querySelector("summary")?.focus({ preventScroll: true }); // a line without details has none
}

function filter() {
  const wanted = boxes.filter((box) => box.checked).map((box) => box.dataset.letter);
  const words = find.value.trim().toLowerCase();
  let shown = 0;
  for (const { row, flags, text, cells } of questions) {
    const fits = (!wanted.length || wanted.some((flag) => flags.includes(flag))) && text.includes(words);
    row.hidden = !fits;
    for (const cell of cells) cell.classList.toggle("off", !fits);
    shown += fits;
  }
  count.classList.toggle("all", shown === questions.length);
  say(count.dataset.shown.replace("{shown}", shown).replace("{total}", questions.length));
}

function say(text) {
  count.textContent = text;
}

// From the question that is looked at to the next one with a fault among those shown, or to the one before it.
let stepped = null;
function step(direction) {
  const here = questions.findIndex(({ row }) => row === document.activeElement.closest(".q") || row.id === place());
  const beyond = direction > 0 ? questions.slice(here + 1) : questions.slice(0, Math.max(here, 0)).reverse();
  const clean = boxes.find((box) => box.value === "clean")?.dataset.letter;
  const next = beyond.find(({ row, flags }) => !row.hidden && !flags.includes(clean));
  if (!next) return say(count.dataset.end);
  if (stepped) stepped.open = false;
  stepped = next.row.open ? null : next.row; // what the reader has opened stays open
  history.pushState({}, "", address(next.row.id));
  filter();
  open(next.row);
  next.row.scrollIntoView();
}

const STEPS = { n: 1, p: -1 };
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !(event.key in STEPS)) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  if (!document.getElementById("keys").checked) return;
  event.preventDefault();
  step(STEPS[event.key]);
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
addEventListener("hashchange", arrive);
addEventListener("keydown", key);
for (const cell of document.querySelectorAll("td[data-q]")) {
  cell.classList.add("leads"); // for a pointer only; the number above it is the link
  cell.addEventListener("click", () => document.querySelector(`a[data-q="${cell.dataset.q}"]`).click());
}
for (const { row } of questions) {
  row.querySelector("summary")?.addEventListener("click", () => {
    if (!row.open) history.replaceState({}, "", address(row.id)); // so that its address can be copied
  });
}
form.addEventListener("change", (event) => {
  if (event.target === find) return;
  history.pushState({}, "", address("questions"));
  filter();
});
find.addEventListener("input", () => {
  history.replaceState({}, "", address("questions"));
  filter();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => {
  history.pushState({}, "", address("questions"));
  filter();
}));
document.getElementById("next").addEventListener("click", () => step(1));
document.getElementById("previous").addEventListener("click", () => step(-1));
unfold.addEventListener("click", () => unfoldAll(unfold.getAttribute("aria-pressed") !== "true"));
form.hidden = false;
document.getElementById("steps").hidden = false;
new ResizeObserver(clear).observe(bar);
arrive();
