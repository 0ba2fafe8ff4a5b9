// Sphinx asks this for the order of search results: the glossary's entry for its own word, chapters, other pages, solutions.
"use strict";

var Scorer = {
  score: ([page, , anchor, , score]) => {
    const word = new URLSearchParams(location.search).get("q")?.trim().toLowerCase().replaceAll(" ", "-");
    if (page === "glossary" && anchor === `#term-${word}`) return 1000;
    if (page.startsWith("solutions/")) return score - 200;
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
