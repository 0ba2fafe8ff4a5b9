"use strict";
const slides = [...document.querySelectorAll(".slide")];

// The largest size at which all of a slide can be seen, measured in the slide's own pixels. Of a picture alone it is looked
// for first: its parts flow anew at each size.
function fit() {
  document.documentElement.style.setProperty("--zoom", 1);
  for (const place of document.querySelectorAll(".place")) {
    const inside = place.firstElementChild;
    const pictures = inside.querySelectorAll(".drawn");
    if (!shrunk(pictures, 2, 0.9, inside, place)) shrunk([inside], 1, 0.2, inside, place);
  }
  document.documentElement.style.setProperty("--zoom", Math.min(innerWidth / 1280, innerHeight / 720));
}

function shrunk(parts, most, least, inside, place) {
  for (let zoom = most; zoom >= least; zoom -= 0.05) {
    for (const part of parts) {
      part.style.zoom = zoom;
      part.style.maxWidth = `${Math.floor(place.clientWidth / zoom)}px`;
    }
    if (parts.length && fits(inside, place)) return true;
  }
  return false;
}

function fits(inside, place) {
  const room = place.getBoundingClientRect();
  return [inside, ...inside.querySelectorAll("*")].every(part => {
    const box = part.getBoundingClientRect();
    const scrolls = getComputedStyle(part).overflowX !== "visible" && part.scrollWidth > part.clientWidth + 1;
    return box.right <= room.right + 1 && box.bottom <= room.bottom + 1 && !scrolls;
  });
}

function now() {
  const middle = innerHeight / 2;
  return slides.findIndex(slide => slide.getBoundingClientRect().bottom > middle);
}

addEventListener("resize", fit);
addEventListener("keydown", event => {
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  slides[now() + step]?.scrollIntoView();
});
fit();
