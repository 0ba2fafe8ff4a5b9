// Sphinx asks this for the order of search results: the glossary's entry for its own word, chapters, other pages, those for
// authors, solutions. What is shown of a result is the sentence that has the words, and not the text around their place.
"use strict";

{ // Sphinx loads this by itself and once more inside of another script: a block keeps the names apart
  const ASKED = new URLSearchParams(location.search).get("q")?.trim().toLowerCase() ?? "";
  const FOR_AUTHORS = ["architecture", "authoring", "instructors", "status"];
  const PROSE = "p, li, dd";
  const OTHER = "td, h1, h2, h3, pre";
  const LONGEST = 240;

  globalThis.Scorer = {
    score: ([page, , anchor, , score]) => {
      if (page === "glossary" && anchor === `#term-${ASKED.replaceAll(" ", "-")}`) return 1000;
      if (page.startsWith("solutions/")) return score - 200;
      if (FOR_AUTHORS.includes(page)) return score - 100;
      return page.startsWith("notebooks/") ? score + 50 : score;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };

  /** Where a word begins in a text in lower case, not inside of another word; -1 where it does not. */
  function begins(low, word) {
    for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + 1)) if (!/[a-z0-9]$/.test(low.slice(0, at))) return at;
    return -1;
  }

  /** How much of what was asked a text has: all of it as it was written, or how many of its words. */
  function found(text, words) {
    const low = text.toLowerCase();
    return (begins(low, ASKED) >= 0 ? 100 : 0) + words.filter((word) => begins(low, word) >= 0).length;
  }

  /** The sentence below an element that has the most of what was asked; prose before tables and code. */
  function sentenceIn(place, words) {
    for (const kind of [PROSE, OTHER]) {
      const blocks = [place, ...place.querySelectorAll("*")].filter((element) => element.matches(kind));
      const sentences = blocks.flatMap((block) => block.textContent.replace(/\s+/g, " ").trim().split(/(?<=[.?!:]) (?=[A-Z“])/));
      const best = sentences.reduce((most, next) => (found(next, words) > found(most, words) ? next : most), "");
      if (found(best, words)) return best;
    }
    return "";
  }

  /** A text that is not too long, from somewhat before the first word that was asked. */
  function cut(text, words) {
    if (text.length <= LONGEST) return text;
    const low = text.toLowerCase();
    const places = [ASKED, ...words].map((word) => begins(low, word)).filter((at) => at >= 0);
    const from = Math.max(0, Math.min(places[0] ?? 0, text.length - LONGEST / 2) - LONGEST / 2);
    return `${from ? "…" : ""}${text.slice(from, from + LONGEST).trim()}${from + LONGEST < text.length ? "…" : ""}`;
  }

  /** What stands below a result, by its page's HTML. */
  function summary(html, terms, anchor) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const main = page.querySelector("article") ?? page.body;
    main.querySelectorAll(".headerlink, script, style, svg, form, .doors").forEach((element) => element.remove());
    const at = anchor ? page.getElementById(decodeURIComponent(anchor.slice(1))) : null;
    const place = at?.tagName === "DT" ? at.nextElementSibling : at;
    const words = [...terms].map((term) => term.toLowerCase());
    const line = document.createElement("p");
    line.className = "context";
    line.textContent = cut((place && sentenceIn(place, words)) || place?.querySelector("p")?.textContent || sentenceIn(main, words), words);
    return line;
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (typeof Search === "undefined") return;
    Search.makeSearchSummary = summary;
    if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // a file reads no other
  });
}
