// Forms that ask for a prediction. The judge has been asked when the book was built (jupyter_book/forms.py): a form has, for
// every entry, which choices are right, and for every known wrong answer a decision tree over the choices. Nothing is sent.
"use strict";

const KEPT = "shardlab-predictions";

/** What was predicted in this browser: values by question and name. Without storage nothing is kept, and all else works. */
function keptPredictions() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) || {};
  } catch {
    return {};
  }
}

/** The value of an item, from the chosen indices; a text that stands for the whole answer is one alone. */
function valueOf(item, chosen) {
  if (typeof chosen[0] === "string") return chosen[0];
  if (item.entries[0].key === "") return item.entries[0].choices[chosen[0]][1];
  return Object.fromEntries(item.entries.map((entry, n) => [entry.key, entry.choices[chosen[n]][1]]));
}

/** Whether a tree is true of the choices: a truth value, or [entry, {choice: tree}, tree of all other choices]. */
function holds(tree, item, chosen) {
  while (Array.isArray(tree)) {
    const [key, others, common] = tree;
    const at = chosen[item.entries.findIndex((entry) => entry.key === key)];
    tree = String(at) in others ? others[at] : common;
  }
  return tree;
}

/** What the judge says of the choices: entries that are wrong, of how many, and the number of the first cause or -1. */
function judged(item, chosen) {
  const cause = () => item.trees.findIndex((tree) => holds(tree, item, chosen));
  if (typeof chosen[0] === "string") {
    const right = item.key === chosen[0];
    return { wrong: right ? [] : [0], of: 1, cause: right ? -1 : item.alone[chosen[0]] };
  }
  if (item.key !== null && item.entries[0].key !== "") return { wrong: [0], of: 1, cause: cause() };
  const wrong = item.entries.flatMap((entry, n) => (entry.right.includes(chosen[n]) ? [] : [n]));
  return { wrong, of: item.entries.length, cause: wrong.length ? cause() : -1 };
}

/** A sentence on one item, as the notebook says it. */
function sentence(item, chosen, { wrong, of }) {
  if (!wrong.length) return item.predicted ? "turned out so." : "right.";
  if (!item.parts || typeof chosen[0] === "string") {
    return item.predicted ? `was different: ${item.shown}.` : "that is not it.";
  }
  const names = wrong.map((n) => item.entries[n].key);
  if (!item.predicted) return `${wrong.length} of ${of} not right: ${names.join(", ")}.`;
  const really = names.map((key) => `${key}: ${item.shown[key]}`);
  return `${wrong.length} of ${of} were different. It is ${really.join(", ")}.`;
}

/** A text and the code in it, which stands between backticks. */
function written(text) {
  return text.split("`").map((part, n) => {
    if (n % 2 === 0) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}

function said(item, chosen) {
  const verdict = judged(item, chosen);
  const line = document.createElement("p");
  const name = document.createElement("code");
  name.textContent = item.name;
  const sign = verdict.wrong.length ? "✗ " : "✓ ";
  line.append(sign, name, " ", sentence(item, chosen, verdict));
  line.className = verdict.wrong.length ? "predict-wrong" : "predict-right";
  line.dataset.cause = verdict.cause < 0 ? "" : item.causes[verdict.cause][0];
  line.dataset.item = item.name;
  if (verdict.cause >= 0) {
    const cause = document.createElement("span");
    cause.className = "predict-cause";
    cause.append(...written(item.causes[verdict.cause][1]));
    line.append(" ", cause);
  }
  return line;
}

/** The boxes of an item: one for each entry, a select or a group of choices that are tapped. */
function boxesOf(form, name) {
  return [...form.querySelectorAll("[data-item]")].filter((box) => box.dataset.item === name);
}

/** What is chosen in a box, or an empty text. */
function chosenIn(box) {
  return box.tagName === "SELECT" ? box.value : (box.querySelector(":checked")?.value ?? "");
}

/** The chosen indices of an item, or null where something is open; entries that a text alone makes idle are not asked. */
function choicesIn(form, item) {
  const chosen = boxesOf(form, item.name).map(chosenIn);
  if (chosen[0].startsWith("alone:")) return [chosen[0].slice("alone:".length)];
  return chosen.every(Boolean) ? chosen.map(Number) : null;
}

function keep(question, name, value) {
  const kept = keptPredictions();
  kept[question] = { [name]: value, ...kept[question] }; // the first prediction stays
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // A browser without storage: the form still answers.
  }
}

/** On a phone, of many groups of choices one is open. A tap chooses, shuts its group and opens the next; a tap on what was chosen opens again. */
function inTurn(groups) {
  groups.forEach((group, n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "choose";
    button.textContent = "choose";
    button.setAttribute("aria-describedby", group.getAttribute("aria-labelledby"));
    group.prepend(button);
    group.classList.toggle("shut", n > 0);
    button.addEventListener("click", () => {
      group.classList.remove("shut");
      group.querySelector("input").focus();
    });
    group.addEventListener("click", (event) => {
      if (!event.target.matches("input") || !event.detail) return; // keys go on through the choices
      if (group.classList.toggle("shut")) groups.find((other) => !chosenIn(other))?.classList.remove("shut");
    });
  });
}

function begin(form) {
  const { question, items } = JSON.parse(form.querySelector("script").textContent);
  const answer = form.querySelector(".predict-said");
  const groups = [...form.querySelectorAll(".choices:not(.told)")];
  if (groups.length > 3) inTurn(groups);
  form.addEventListener("change", (event) => {
    const [first, ...others] = boxesOf(form, event.target.closest("[data-item]").dataset.item);
    const idle = chosenIn(first).startsWith("alone:");
    for (const box of others) for (const input of box.matches("select") ? [box] : box.querySelectorAll("input")) input.disabled = idle;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answered = items.map((item) => [item, choicesIn(form, item)]);
    const open = answered.filter(([, chosen]) => chosen === null).map(([item]) => item.name);
    answer.replaceChildren();
    for (const [item, chosen] of answered) {
      if (chosen === null) continue;
      answer.append(said(item, chosen));
      if (item.predicted) keep(question, item.name, valueOf(item, chosen));
    }
    if (open.length) answer.append(`Still open: ${open.join(", ")}.`);
    else form.dispatchEvent(new Event("shardlab-compared", { bubbles: true }));
    document.dispatchEvent(new Event("shardlab-predicted"));
  });
}

/** A line that says how much was predicted in this browser, and gives it as a file for the notebooks. */
function tell(place) {
  const kept = keptPredictions();
  const count = Object.keys(kept).length;
  place.replaceChildren();
  if (!count) {
    place.textContent = "Nothing has been predicted in this browser yet.";
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ predictions: kept })], { type: "application/json" }));
  link.download = "shardlab-book.json";
  link.textContent = "Take them along";
  const exercises = count === 1 ? "one exercise" : `${count} exercises`;
  place.append(`Predicted in this browser: ${exercises}. `, link, " (a file; in a notebook: ");
  const call = document.createElement("code");
  call.textContent = 'sl.progress("shardlab-book.json")';
  place.append(call, ").");
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("form.predict").forEach(begin);
  const place = document.querySelector("#predicted-here");
  if (place) {
    tell(place);
    document.addEventListener("shardlab-predicted", () => tell(place));
    // Predicted in another tab, or on the page from which somebody comes back.
    for (const event of ["storage", "pageshow"]) window.addEventListener(event, () => tell(place));
  }
});
