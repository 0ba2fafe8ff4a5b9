// Starts Python (Pyodide) when a playground is used for the first time, and shows what the package's own code says.
// All of it comes from the book's own folder.
"use strict";

const HOME = new URL(".", document.currentScript.src);
let python = null;
let ready = false;

/** Pyodide with the package and playground.py; loaded once. */
function started() {
  python ??= (async () => {
    const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", HOME));
    const runtime = await loadPyodide({ indexURL: new URL("pyodide/", HOME).href });
    const archive = await (await fetch(new URL("shardlab.zip", HOME))).arrayBuffer();
    runtime.unpackArchive(archive, "zip", { extractDir: "/package" });
    runtime.runPython('import sys; sys.path.insert(0, "/package")');
    ready = true;
    return runtime.pyimport("playground");
  })();
  return python;
}

/** What Python is asked: all but how fast to go on asking. */
function givenIn(form) {
  return Object.fromEntries([...new FormData(form)].filter(([name]) => name !== "speed"));
}

/** Show what Python says of a form; while it starts the page says so, and a later input replaces an earlier one. */
async function show(form) {
  const place = form.querySelector(".play-said");
  const turn = (form.turn = (form.turn || 0) + 1);
  if (!ready) place.textContent = "Starting Python in this page (about 14 MB, once) …";
  form.busy = true;
  const loading = started();
  let module = null;
  try {
    module = await loading;
    if (turn !== form.turn) return; // a later input waited for Python as well
    place.innerHTML = module.answered.callKwargs(form.dataset.play, givenIn(form));
    reachable(place);
  } catch (error) {
    if (python === loading) python = null; // the next press begins anew
    ready = ready && python !== null;
    rest(form);
    console.warn(error.message);
    if (location.protocol === "file:") place.textContent = "A playground needs a web server, for browsers load no Python from files: make book-serve.";
    else if (module) place.textContent = "Python ended in this page, perhaps for want of memory. Press Show to start it again.";
    else place.textContent = "Python could not be loaded from this book's folder. Reload the page to try again.";
  }
  form.busy = false;
  form.dataset.shown = String(turn);
}

/** A ring that runs stands still. */
function rest(form) {
  clearInterval(form.timer);
  form.timer = null;
  const run = form.querySelector("[data-do=play]");
  if (run) run.textContent = "Play";
}

/** What is wider than the page is scrolled by keyboard as well: when it is shown, and when it is unfolded. */
function reachable(place) {
  for (const box of place.querySelectorAll("*")) {
    if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) box.tabIndex = 0;
  }
  for (const folded of place.querySelectorAll("details")) folded.addEventListener("toggle", () => reachable(folded), { once: true });
}

/** The step of a ring: one on, or one each 900 ms until the end. */
function play(form) {
  const box = form.elements.step;
  const on = form.querySelector("[data-do=step]");
  const run = form.querySelector("[data-do=play]");
  const forward = () => {
    if (form.busy) return;
    const last = Number(form.querySelector("[data-last]")?.dataset.last ?? box.max);
    box.value = Number(box.value) >= last ? 0 : Number(box.value) + 1;
    form.querySelector(`output[for="${box.id}"]`).textContent = box.value;
    show(form);
  };
  on.addEventListener("click", forward);
  run.addEventListener("click", () => {
    if (form.timer) return rest(form);
    form.timer = setInterval(forward, 1800 / Number(form.elements.speed.value));
    run.textContent = "Pause";
  });
}

document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-play]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      show(form);
    });
    form.addEventListener("input", (event) => {
      const output = form.querySelector(`output[for="${event.target.id}"]`);
      if (output) output.textContent = Number(event.target.value).toLocaleString("en");
      if (python && event.target.tagName !== "TEXTAREA") show(form);
    });
    if (form.querySelector("[data-do=play]")) play(form);
  }
});
