// Searches the book's sections (search_sections.js, which the build writes) with MiniSearch, from a server or from files. An
// exercise is found by its number, a word of the glossary comes first, pages for authors come last. Equals keep the book's order.
"use strict";

{
  const ASKED = new URLSearchParams(location.search).get("q")?.trim() ?? "";
  const FOR_AUTHORS = ["architecture", "authoring", "instructors", "status"];
  const LONGEST = 240;
  const MOST = 40;
  // What people say, and what the book says of the same.
  const MEANT = { __proto__: null, oom: "out of memory", gpus: "gpu", tpus: "tpu", pjit: "pjit jit", start: "begin start first", ddp: "ddp data parallel" };
  const SMALL = new Set("a an the is are do does i my how what why of to in on it for and or with where not did".split(" "));

  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const asked = words(ASKED).filter((word) => !SMALL.has(word));

  const PHRASE = (MEANT[ASKED.toLowerCase()] ?? ASKED).toLowerCase();

  /** How much more a section counts than others with the same words. */
  function weight({ page, title, text }) {
    return standing({ page, title }) * (PHRASE.includes(" ") && `${title} ${text}`.toLowerCase().includes(PHRASE) ? 2.5 : 1);
  }

  function standing({ page, title }) {
    const same = title.toLowerCase() === ASKED.toLowerCase();
    if (page === "glossary") return same ? 30 : 0.8;
    if (FOR_AUTHORS.includes(page)) return 0.25;
    if (ASKED.length > 60 && ["practices", "errors", "old_to_new"].includes(page)) return 4; // a message, and no word
    if (["api", "playground"].includes(page)) return 0.5;
    return (same ? 3 : 1) * (page === "practices" || page.startsWith("notebooks/") ? 1.3 : 1);
  }

  /** The sections that have what was asked: all of its words if there is such a section, else some. */
  function found(sections) {
    const kind = /\[([a-z]+(?:-[a-z]+)+)\]/.exec(ASKED)?.[1];
    const ours = kind ? sections.filter(({ page, title }) => page === "errors" && title === kind) : [];
    if (ours.length) return ours;
    const number = /^(?:exercise )?(\d+\.\d+)$/i.exec(ASKED)?.[1];
    if (number) return sections.filter(({ title }) => title.startsWith(`Exercise ${number}:`));
    const index = new MiniSearch({ fields: ["title", "of", "text"], tokenize: words, processTerm: (word) => (SMALL.has(word) ? null : word) });
    index.addAll(sections);
    const options = {
      boost: { title: 4, of: 1.5 }, prefix: (word) => word.length > 3, fuzzy: (word) => (word.length > 5 ? 0.15 : false),
      boostDocument: (id) => weight(sections[id]),
    };
    const said = asked.map((word) => MEANT[word] ?? word).join(" ");
    const all = { ...options, combineWith: "AND" };
    const hits = [index.search(said, all), index.search(ASKED, all), index.search(said, options)].find((some) => some.length) ?? [];
    return hits.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, MOST).map(({ id }) => sections[id]);
  }

  /** The part of a text that has the most of what was asked: from the beginning of a sentence. */
  function part(text) {
    const sentences = text.split(/(?<=[.?!:]) (?=[A-Z“])/);
    const count = (sentence) => asked.filter((word) => words(sentence).some((other) => other.startsWith(word.slice(0, 6)))).length;
    const best = sentences.reduce((most, next) => (count(next) > count(most) ? next : most), sentences[0] ?? "");
    return best.length > LONGEST ? `${best.slice(0, LONGEST).trim()}…` : best;
  }

  function shown({ page, at, title, of, text }) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${page}.html#${at}`;
    link.textContent = title;
    item.append(link);
    if (of !== title) {
      const where = document.createElement("span");
      where.className = "search-of";
      where.textContent = ` ${of}`;
      item.append(where);
    }
    const context = document.createElement("p");
    context.className = "context";
    context.textContent = part(text);
    item.append(context);
    return item;
  }

  function answer(place) {
    const begun = performance.now();
    const sections = found(globalThis.SECTIONS);
    const list = document.createElement("ul");
    list.className = "search";
    list.append(...sections.map(shown));
    const said = document.createElement("p");
    said.setAttribute("role", "status");
    said.textContent = sections.length ? `${sections.length} sections found.` : "No section has these words. An error message can be pasted into sl.diagnose in a notebook.";
    place.replaceChildren(said, list);
    place.dataset.took = String(Math.round(performance.now() - begun));
  }

  const home = new URL(".", document.currentScript.src);
  document.addEventListener("DOMContentLoaded", () => {
    const place = document.querySelector("#search-results");
    if (!place || !ASKED) return;
    for (const input of document.querySelectorAll("input[name=q]")) input.value = ASKED;
    const script = document.createElement("script");
    script.src = new URL("search_sections.js", home);
    script.addEventListener("load", () => answer(place));
    document.head.append(script);
  });
}
