// What can wait is one line, which opens: by a tap, by keys, by an address that leads inside. What no core exercise of a chapter needs
// is folded everywhere, and what is long is shortened on phones. Without this script all is open, and so it is on paper.
"use strict";

const PHONE = matchMedia("(max-width: 600px)");
const AFTERWARDS = "#what-to-take-along, #the-answer, #more, #further-reading";
const PICTURE = ".cell_output:has(svg:not(button *), img)";
/** Heights in pixels from which something is long on a phone. */
const LONG = { text: 320, picture: 640 };

/** Fold elements that stand side by side into one line, which opens them; so does being led to a place in their section. */
function fold(elements, words, section) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  details.className = "fold";
  summary.textContent = words;
  elements[0].before(details);
  details.append(summary, ...elements);
  details.addEventListener("toggle", () => (summary.textContent = details.open ? words.replace(/^Open/, "Close") : words));
  whenLed([section, details], () => (details.open = true));
}

/** All of a section but its heading, up to what `end` tells. */
function foldSection(section, words, end = () => false) {
  const behind = [...section.children].filter((child) => !child.matches("span:empty, h2, h3"));
  const at = behind.findIndex(end);
  const folded = at < 0 ? behind : behind.slice(0, at);
  if (folded.length) fold(folded, words, section);
}

const isExercise = (section) => section.id.startsWith("exercise-");
const facts = (section) => section.querySelector(":scope > p");
const isOptional = (section) => facts(section)?.textContent.startsWith("optional") ?? false;

/** The sections that lead to optional exercises alone: each stands right before some, and no core exercise follows it directly. */
function leadingToOptional(sections) {
  return sections.filter((section, at) => {
    const after = sections.slice(at + 1);
    const end = after.findIndex((other) => !isExercise(other));
    const led = end < 0 ? after : after.slice(0, end);
    const begun = sections.slice(0, at).some(isExercise); // what comes before the first exercise is for all of them
    return begun && !isExercise(section) && !section.matches(AFTERWARDS) && led.length > 0 && led.every(isOptional);
  });
}

/** What no core exercise needs: optional exercises, sections that lead to them alone, and the part "More", up to its end. */
function foldOptional() {
  const sections = [...document.querySelectorAll("article section:has(> h2)")];
  const more = document.getElementById("more");
  const leading = leadingToOptional(sections.slice(0, more ? sections.indexOf(more) : undefined));
  for (const section of sections.filter(isExercise).filter(isOptional)) {
    const behind = [...section.children];
    fold(behind.slice(behind.indexOf(facts(section)) + 1), "Open this exercise", section);
  }
  for (const section of leading) foldSection(section, "Open this section");
  if (!more) return;
  const behind = [...more.children].slice(1);
  for (let at = more.nextElementSibling; at && !at.matches("#what-to-take-along, #further-reading"); at = at.nextElementSibling) behind.push(at);
  if (behind.length) fold(behind, "Open this part", more);
}

/**
 * On a phone: the parts of an exercise that has several, what a check says in a solved notebook, cells to fill in that have a form
 * beside them, and what is read at the end.
 */
function foldParts() {
  const answered = (element) => element.matches("form.predict, .curtain, details.hint") || element.textContent.includes("sl.check(");
  const several = "section[id^='exercise-']:has(> section ~ section) > section";
  for (const part of document.querySelectorAll(several)) foldSection(part, "Open this part", answered);
  for (const said of document.querySelectorAll(".cell_output:has(div[role='status']) > .solved")) {
    const words = said.textContent.replace(/:$/, "");
    const behind = [...said.parentElement.children].filter((child) => child !== said);
    said.remove();
    fold(behind, words, behind[0].parentElement);
  }
  for (const form of document.querySelectorAll(".cell + form.predict")) {
    const cell = form.previousElementSibling;
    if (cell.textContent.includes("# TODO")) fold([cell], "The same to fill in, in a notebook", cell);
  }
  for (const cell of document.querySelectorAll("article .cell")) {
    const lines = cell.querySelector(".cell_input pre")?.textContent.trim().split("\n") ?? ["nothing shown"];
    if (lines.every((line) => /^(import |from |$)/.test(line))) fold([cell], "What is imported", cell);
    else if (lines.join() === "sl.progress()") fold([cell], "What you have done: sl.progress()", cell);
  }
  for (const rows of document.querySelectorAll("form.predict:has(fieldset:nth-of-type(4)) fieldset ~ fieldset .predict-rows")) {
    const legend = rows.parentElement.querySelector("legend");
    if (!legend) continue;
    rows.parentElement.setAttribute("aria-label", legend.textContent);
    fold([rows], legend.textContent, rows.parentElement);
    legend.remove();
  }
  for (const box of document.querySelectorAll(".admonition.tip:last-child")) {
    const title = box.querySelector(".admonition-title");
    fold([box], title.textContent, box);
    title.remove();
  }
  const reading = document.getElementById("further-reading");
  if (reading) foldSection(reading, "Open this list");
}

/** Show the beginning of what is long, with a button for all of it. */
function shorten(box, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "whole";
  button.textContent = words;
  const open = () => {
    box.classList.remove("long");
    button.remove();
  };
  box.classList.add("long");
  box.after(button);
  for (const kind of ["click", "focusin"]) box.addEventListener(kind, open, { once: true });
  button.addEventListener("click", () => {
    open();
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  whenLed([box], open);
}

/** How much there is in a box: of text its lines, of a table its rows. */
function amount(box) {
  if (box.matches(PICTURE)) return "the whole picture";
  const rows = box.querySelectorAll("tbody tr").length;
  const lines = [...box.querySelectorAll("pre")].reduce((sum, pre) => sum + pre.textContent.trimEnd().split("\n").length, 0);
  return lines > rows ? `all ${lines} lines` : rows ? `all ${rows} rows` : "all of it";
}

function shortenLong() {
  for (const film of document.querySelectorAll(".cell_output details[open]:has(svg)")) film.open = false; // its picture stands above it
  for (const table of document.querySelectorAll(".cell_output table"))
    if (table.offsetHeight > 60 * table.rows.length) table.classList.add("roomy"); // it is rather scrolled sideways than read by the word
  const boxes = [...document.querySelectorAll(".cell_output:not(:has([role='status'])), .cell_input:not(details *) .highlight")];
  const long = boxes.filter((box) => box.getBoundingClientRect().height > (box.matches(PICTURE) ? LONG.picture : LONG.text));
  for (const box of long) shorten(box, `Show ${amount(box)}`);
}

/** What is wider than its place is scrolled by keyboard too, from when it is in sight: a formula, a picture. */
const scrolled = new ResizeObserver((seen) => {
  for (const { target } of seen) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

document.addEventListener("DOMContentLoaded", () => {
  if (PHONE.matches) {
    shortenLong();
    foldParts();
  }
  foldOptional();
  for (const box of document.querySelectorAll("div.math, .cell_output [role='img']")) scrolled.observe(box);
  if (location.hash) dispatchEvent(new Event("hashchange")); // all that was folded above has moved what was led to
});
