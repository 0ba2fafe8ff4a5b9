// What a reader touches besides forms: menus, curtains over what follows a prediction, sliders of films, the first page's switch, chapter 1's
// array to cut, chapter 8's arrows to draw, bars to move. Without this script nothing is covered, the switch still turns by style alone, and
// array, arrows and bars are as they were first.
"use strict";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** The elements after `start` that tell what was asked, in groups between hints: from the first with an output to `end`. */
function telling(start, end) {
  const groups = [[]];
  let begun = false;
  for (let at = start.nextElementSibling; at && !at.matches(end); at = at.nextElementSibling) {
    begun ||= Boolean(at.querySelector(".cell_output"));
    if (at.matches("details.hint, .met")) groups.push([]);
    else if (begun) groups.at(-1).push(at);
  }
  return groups.filter((group) => group.length);
}

/** Hang a curtain before elements that stand side by side; what is behind it can be neither read nor reached. */
function hang(elements) {
  const curtain = document.createElement("div");
  const inside = document.createElement("div");
  curtain.className = "curtain";
  inside.inert = true;
  elements[0].before(curtain);
  inside.append(...elements);
  curtain.append(inside);
  return { curtain, inside };
}

/** Call `open` when the address leads to a place inside one of the elements, now or later, and go there. */
function whenLed(insides, open) {
  const look = () => {
    const led = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!led || !insides.some((inside) => inside.contains(led))) return;
    open();
    led.scrollIntoView();
  };
  addEventListener("hashchange", look);
  look();
}

/** Cover groups of elements, with a button that lifts all their curtains; being led to a place behind one lifts them too. */
function cover(groups, words) {
  if (!groups.length) return null;
  const hung = groups.map(hang);
  const bar = document.createElement("p");
  const button = document.createElement("button");
  bar.className = "curtain-bar";
  button.type = "button";
  button.textContent = words;
  bar.append(button);
  hung[0].curtain.prepend(bar);
  const lift = () => {
    for (const { curtain, inside } of hung) {
      inside.inert = false;
      curtain.classList.add("lifted");
    }
    bar.remove();
  };
  button.addEventListener("click", () => {
    lift();
    hung[0].inside.tabIndex = -1;
    hung[0].inside.focus({ preventScroll: true });
  });
  whenLed(hung.map(({ inside }) => inside), lift);
  return lift;
}

function curtains() {
  const forms = document.querySelectorAll("form.predict");
  const kept = forms.length ? keptPredictions() : {}; // of predict.js, which pages without a form do not have
  for (const form of forms) {
    const lift = cover(telling(form, "section, form.predict"), "Show me without predicting");
    if (!lift) continue;
    const { question, items } = JSON.parse(form.querySelector("script").textContent);
    const due = items.filter(({ predicted }) => predicted);
    if (due.length && due.every(({ name }) => name in (kept[question] ?? {}))) lift();
    else form.addEventListener("shardlab-compared", lift, { once: true });
  }
  const asked = [...document.querySelectorAll("article section > p")].filter((p) => /^(First, )?predict\b/i.test(p.querySelector("strong")?.textContent ?? ""));
  for (const p of asked) {
    if (p.closest(".curtain") || p.parentElement.querySelector("form.predict")) continue;
    const [following] = telling(p, "details.hint, section, p:has(> strong:first-child)");
    if (!following) continue;
    const cell = following.findIndex((element, n) => n && element.matches(".cell"));
    cover([cell < 0 ? following : following.slice(0, cell)], "I have said it: show me");
  }
}

/** A number that runs to where it is to be, in 0.8 seconds. */
function run(place, to) {
  const from = Number(place.dataset.now ?? 0);
  const start = performance.now();
  place.dataset.now = to;
  const step = (now) => {
    const part = STILL.matches ? 1 : Math.min((now - start) / 800, 1);
    if (Number(place.dataset.now) !== to) return;
    place.textContent = Math.round(from + (to - from) * part).toLocaleString("en");
    if (part < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** The switch "with / without this line": its numbers run, the address keeps it, and it turns once by itself. */
function turning(figure) {
  const inputs = [...figure.querySelectorAll("input[type=radio]")];
  const show = () => {
    const at = inputs.findIndex((input) => input.checked);
    for (const place of figure.querySelectorAll("[data-each]")) run(place, JSON.parse(place.dataset.each)[at]);
  };
  const turn = (name) => {
    const input = inputs.find((each) => each.value === name);
    if (input) input.checked = true;
    show();
  };
  figure.addEventListener("change", (event) => {
    clearTimeout(figure.timer);
    history.replaceState(null, "", `#${event.target.value}`);
    show();
  });
  const asked = location.hash.slice(1);
  for (const place of figure.querySelectorAll("[data-each]")) place.dataset.now = JSON.parse(place.dataset.each)[inputs.findIndex((input) => input.checked)];
  if (inputs.some((input) => input.value === asked)) turn(asked);
  else if (!STILL.matches) figure.timer = setTimeout(() => turn(inputs[0].value), 1200);
}

/** A slider for a film of a ring, or for two that race: by finger, mouse or arrow keys to any moment; Play lets it run again. */
function scrubber(film) {
  const moving = film.getAnimations({ subtree: true });
  const caption = [...film.querySelectorAll("text")].map((text) => /^step \d+ of (\d+)$/.exec(text.textContent)).find(Boolean);
  const hops = Number(caption?.[1]);
  if (!moving.length || !hops) return;
  const bar = document.createElement("div");
  const play = document.createElement("button");
  const slider = document.createElement("input");
  const said = document.createElement("output");
  bar.className = "scrub";
  play.type = "button";
  Object.assign(slider, { type: "range", min: 0, max: hops, step: 0.25, value: 0 });
  slider.setAttribute("aria-label", "Moment of the film, in steps");
  const duration = moving[0].effect.getComputedTiming().duration;
  const step = (duration - 1500) / hops; // the film rests for 1.5 seconds at its end
  const show = (running) => {
    play.textContent = running ? "Pause" : "Play";
    said.textContent = running ? "" : Number(slider.value) % 1 ? `in step ${Math.ceil(slider.value)}` : Number(slider.value) ? `after step ${slider.value}` : "at the start";
  };
  const hold = () => {
    for (const each of moving) {
      each.pause();
      each.currentTime = slider.value * step;
    }
    show(false);
  };
  slider.addEventListener("input", hold);
  play.addEventListener("click", () => {
    if (play.textContent === "Play") {
      for (const each of moving) each.play();
      show(true);
    } else {
      slider.value = Math.min(Math.round(((moving[0].currentTime % duration) / step) * 4) / 4, hops);
      hold();
    }
  });
  show(true);
  bar.append(play, slider, said);
  film.after(bar);
}

/** The array to cut: mesh axes go to what they cut, by finger, mouse, or keys; a device shows its block; the address keeps the cut. */
function cutting(figure) {
  const cuts = JSON.parse(figure.dataset.cuts);
  const fills = figure.dataset.fills.split(",");
  const zones = [...figure.querySelectorAll(".cut-zone")];
  const chips = [...figure.querySelectorAll(".cut-chip")];
  const devices = [...figure.querySelectorAll(".cut-devices button")];
  const svg = figure.querySelector("svg");
  const said = figure.querySelector(".cut-said");
  let held = null; // the chip under a finger, where it was taken up, and the zone that it is over
  const chipsIn = (zone) => [
    ...chips.filter((chip) => chip.parentElement === zone && chip !== held?.chip).sort((a, b) => a.dataset.turn - b.dataset.turn),
    ...(held?.over === zone ? [held.chip] : []),
  ];
  const now = () => zones.slice(0, 2).map((zone) => chipsIn(zone).map((chip) => chip.dataset.axis).join("")).join(",");
  const slice = (block) => block.map(([start, stop]) => `${start}:${stop}`).join(", ");
  const draw = () => {
    const { spec, index, blocks, said: words } = cuts[now()];
    const chosen = devices.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    const places = Map.groupBy(blocks.keys(), (device) => JSON.stringify(blocks[device]));
    const unit = Number(svg.dataset.unit);
    svg.innerHTML = [...places]
      .map(([place, holders]) => {
        const [[top, bottom], [left, right]] = JSON.parse(place);
        const faint = chosen >= 0 && !holders.includes(chosen) ? ' opacity="0.25"' : "";
        const box = `x="${unit * left}" y="${unit * top}" width="${unit * (right - left)}" height="${unit * (bottom - top)}"`;
        const at = `x="${(unit * (left + right)) / 2}" y="${(unit * (top + bottom)) / 2 + 4}"`;
        return `<g${faint}><rect ${box} fill="${fills[holders[0]]}" stroke="#111111"/><text ${at}>${holders.join(" ")}</text></g>`;
      })
      .join("");
    figure.querySelector("code").textContent = spec;
    figure.querySelector(".cut-index").innerHTML = index;
    said.textContent = chosen < 0 ? words : `Device ${chosen} holds A[${slice(blocks[chosen])}]. ${words}`;
    zones.forEach((zone) => zone.classList.toggle("over", held?.over === zone));
  };
  const put = (chip, zone) => {
    chip.dataset.turn = 1 + Math.max(...chips.map((each) => Number(each.dataset.turn ?? 0)));
    zone.append(chip);
    chip.focus({ preventScroll: true });
    draw();
    history.replaceState(null, "", `#cut-${now()}`);
  };
  const beside = (chip, by) => zones[(zones.indexOf(chip.parentElement) + by + zones.length) % zones.length];
  for (const chip of chips) {
    chip.dataset.turn = 0;
    chip.addEventListener("pointerdown", (event) => {
      chip.setPointerCapture(event.pointerId);
      held = { chip, from: [event.clientX, event.clientY], over: chip.parentElement, moved: false };
    });
    chip.addEventListener("pointermove", (event) => {
      if (held?.chip !== chip) return;
      const [x, y] = [event.clientX - held.from[0], event.clientY - held.from[1]];
      held.moved ||= Math.hypot(x, y) > 6;
      if (!held.moved) return;
      chip.style.transform = `translate(${x}px, ${y}px)`;
      const over = zones.find((zone) => {
        const box = zone.getBoundingClientRect();
        return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
      });
      if (over && over !== held.over) {
        held.over = over;
        draw();
      }
    });
    const drop = () => {
      if (held?.chip !== chip) return;
      const { over, moved } = held;
      held = null;
      chip.style.transform = "";
      chip.dragged = moved; // the click that follows a drag is none
      if (moved && over !== chip.parentElement) put(chip, over);
      else draw();
    };
    chip.addEventListener("pointerup", drop);
    chip.addEventListener("pointercancel", drop);
    chip.addEventListener("click", () => {
      if (!chip.dragged) put(chip, beside(chip, 1));
      chip.dragged = false;
    });
    chip.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      put(chip, beside(chip, by));
    });
  }
  for (const button of devices)
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") === "true";
      for (const each of devices) each.setAttribute("aria-pressed", String(each === button && !pressed));
      draw();
    });
  const asked = decodeURIComponent(location.hash);
  const kept = asked.startsWith("#cut-") && asked.slice("#cut-".length);
  if (!kept || !(kept in cuts)) return;
  for (const chip of chips) zones[2].append(chip);
  kept.split(",").forEach((names, n) => [...names].forEach((name, turn) => {
    const chip = chips.find((each) => each.dataset.axis === name);
    chip.dataset.turn = turn;
    zones[n].append(chip);
  }));
  draw();
  figure.scrollIntoView();
}

/** The arrows to draw: a message is dragged, or its two ends are tapped; a slider takes steps; the address keeps both. */
function sending(figure) {
  const [senders, receivers] = [".send-sends", ".send-holds"].map((row) => [...figure.querySelectorAll(`${row} button`)]);
  const letters = senders.map((button) => button.querySelector("b").textContent);
  const svg = figure.querySelector("svg");
  const [, , wide, tall] = svg.getAttribute("viewBox").split(" ").map(Number);
  const slider = figure.querySelector("input");
  const said = figure.querySelector(".send-said");
  const apart = wide / letters.length;
  let pairs = [...figure.querySelector("code").textContent.matchAll(/\((\d), (\d)\)/g)].map(([, ...pair]) => pair.map(Number));
  let taken = null; // the device that is to send, and where a finger took it
  const arrow = ([source, target]) => {
    const [start, end] = [source, target].map((device) => apart * device + apart / 2);
    return `<path d="M${start} 2L${end} ${tall - 2}" marker-end="url(#send-head)"/>`;
  };
  const step = (now) => now.map((_, device) => now[pairs.find(([, target]) => target === device)?.[0]] ?? "0");
  const draw = () => {
    const steps = Number(slider.value);
    const listed = pairs.map((pair) => `(${pair.join(", ")})`).join(", ");
    const refused = [0, 1].some((end) => new Set(pairs.map((pair) => pair[end])).size < pairs.length);
    let now = letters;
    for (let n = 0; n < steps; n++) now = step(now);
    const empty = now.flatMap((letter, device) => (letter === "0" ? [device] : []));
    const after = `After ${steps} step${steps > 1 ? "s" : ""}`;
    svg.querySelector("g").innerHTML = pairs.map(arrow).join("");
    figure.querySelector("code").textContent = `lax.ppermute(block, "x", [${listed}])`;
    figure.querySelector("output").textContent = steps;
    receivers.forEach((button, device) => {
      const block = button.querySelector("b");
      block.textContent = refused ? "-" : now[device];
      block.style.background = `var(--${block.textContent}, #E8E8E4)`;
    });
    senders.forEach((button, device) => button.setAttribute("aria-pressed", String(device === taken?.device)));
    said.classList.toggle("refused", refused);
    if (refused) said.textContent = figure.dataset.refused.replace("{pairs}", listed);
    else if (now.join() === letters.join()) said.textContent = `${after} every block is home.`;
    else if (empty.length) said.textContent = `${after} ${empty.length > 1 ? "devices" : "device"} ${empty.join(", ")} hold${empty.length > 1 ? "" : "s"} zeros.`;
    else said.textContent = `${after} each device holds a block.`;
  };
  const keep = () => {
    draw();
    history.replaceState(null, "", `#send-${pairs.map((pair) => pair.join("")).join(".")}*${slider.value}`);
  };
  const send = (target) => {
    const pair = [taken.device, target];
    const others = pairs.filter((each) => each.join() !== pair.join());
    pairs = others.length < pairs.length ? others : [...pairs, pair];
    taken = null;
    keep();
  };
  senders.forEach((button, device) => {
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      taken = { device, again: taken?.device === device };
      draw();
    });
    button.addEventListener("pointerup", (event) => {
      const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("button");
      if (taken && receivers.includes(over)) send(receivers.indexOf(over));
    });
    button.addEventListener("click", (event) => {
      if (event.detail === 0) taken = { device, again: taken?.device === device }; // by a key
      if (taken?.again) taken = null;
      draw();
    });
  });
  receivers.forEach((button, device) => button.addEventListener("click", () => taken && send(device)));
  slider.addEventListener("input", keep);
  const kept = /^#send-([0-3.]*)\*([1-4])$/.exec(decodeURIComponent(location.hash));
  if (!kept) return;
  pairs = kept[1].split(".").filter((pair) => pair.length === 2).map((pair) => [...pair].map(Number));
  slider.value = kept[2];
  draw();
  figure.scrollIntoView();
}

/** Bars to move by two sliders; the address keeps both. */
function moving(figure) {
  const moved = JSON.parse(figure.dataset.moved);
  const places = JSON.parse(figure.dataset.places);
  const sliders = [...figure.querySelectorAll("input")];
  const draw = () => {
    const at = sliders.map((slider) => Number(slider.value));
    const [lengths, said] = moved[at[0]][at[1]];
    figure.querySelectorAll(".moved-bar span").forEach((span, n) => (span.style.width = `${lengths[n]}%`));
    figure.querySelectorAll("output").forEach((output, n) => (output.textContent = places[n][at[n]]));
    figure.querySelector(".moved-said").textContent = said;
    return `#moved-${at.join(".")}`;
  };
  for (const slider of sliders) slider.addEventListener("input", () => history.replaceState(null, "", draw()));
  const kept = /^#moved-(\d+)\.(\d+)$/.exec(location.hash)?.slice(1);
  if (!kept || kept.some((at, n) => at >= places[n].length)) return;
  sliders.forEach((slider, n) => (slider.value = kept[n]));
  draw();
  figure.scrollIntoView();
}

/** The theme's menus close when they have led to a place on this page, which they would hide. */
function closing(menu) {
  menu.addEventListener("click", (event) => {
    if (event.target.closest("a[href^='#']")) menu.close();
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("dialog[id$='sidebar-modal']").forEach(closing);
  document.querySelectorAll("figure.race > div, svg[class^='sl-']:not(.race *)").forEach(scrubber);
  curtains();
  document.querySelectorAll("figure.turn").forEach(turning);
  document.querySelectorAll("figure.cut").forEach(cutting);
  document.querySelectorAll("figure.send").forEach(sending);
  document.querySelectorAll("figure.moved[data-moved]").forEach(moving);
});
