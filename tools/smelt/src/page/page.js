// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows the JSON of the page. All text goes through textContent, so nothing in it becomes markup.
//
// The address keeps what is searched, open and sorted: #q=WORDS, #open=NAME, #line=KEY (a line of the opened code), #sort=ORDER.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("page");
const SVG = "http://www.w3.org/2000/svg";

function node(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function counted(count, word, plural) {
  return count + " " + (count === 1 ? word : plural || word + "s");
}

/// 1 KB is 1000 bytes.
function sizeOf(bytes) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]])
    if (bytes >= size) return (bytes / size).toFixed(bytes < 10 * size ? 1 : 0) + " " + unit;
  return counted(bytes, "byte");
}

function table(heads, rows) {
  const head = node("tr", {}, ...heads.map((text) => node("th", {}, text)));
  const body = rows.map((row) => node("tr", {}, ...row.map((cell) => node("td", { class: cell.length <= 24 ? "short" : null }, cell))));
  return node("div", { class: "scroll" }, node("table", {}, node("thead", {}, head), node("tbody", {}, ...body)));
}

/// Resolves to the value of a part (packed_part in page.cpp).
function part(index) {
  const bytes = Uint8Array.from(atob(document.getElementById("part-" + index).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

// The list: entries that are drawn when they are opened, and a search over their names and what else is said of them.

const entries = [];

/// `draw(value, where)` gets the value of part `index`; `facts` is what a list groups and sorts by.
function entry(name, tags, words, index, draw, facts) {
  const body = node("div");
  const count = entries.length;
  const details = node("details", { class: "entry", id: "entry-" + count },
    node("summary", {}, node("span", { class: "name" }, name),
      ...tags.map((tag) => node("span", { class: "tag " + (tag.kind || "") }, tag.text))), body);
  const one = { name: name, words: [name, ...words].join(" ").toLowerCase(), details: details, isDrawn: null, facts: facts };
  one.open = () => {
    details.open = true;
    if (!one.isDrawn) one.isDrawn = part(index).then((value) => draw(value, body), (error) => body.append(node("p", { class: "bad" }, String(error))));
    return one.isDrawn;
  };
  details.addEventListener("toggle", () => { if (details.open) one.open(); });
  entries.push(one);
  return details;
}

const MOST_OPENED = 20;  // of "Unfold": more would take the browser long

/// `opensFirst`: the first entry is open when the address asks for nothing. `groups`: see `arranged`.
function list(title, what, { opensFirst = false, groups = null } = {}) {
  if (entries.length === 0) return;
  const input = node("input", { type: "search", placeholder: "Search " + what, "aria-label": "Search " + what });
  const shown = node("span", { class: "quiet", id: "shown" });
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    let count = 0;
    for (const one of entries) {
      one.details.hidden = !words.every((word) => one.words.includes(word));
      if (!one.details.hidden) ++count;
    }
    for (const group of where.querySelectorAll(".group")) group.hidden = !group.querySelector("details.entry:not([hidden])");
    shown.textContent = count === entries.length ? counted(count, "entry", "entries") : count + " of " + counted(entries.length, "entry", "entries");
  };
  input.addEventListener("input", () => { filter(); remember({ q: input.value }); });
  const unfold = () => entries.filter((one) => !one.details.hidden).slice(0, MOST_OPENED).forEach((one) => one.open());
  const fold = () => entries.forEach((one) => { one.details.open = false; });
  const where = node("div", { id: "entries" }, ...entries.map((one) => one.details));
  const state = address();
  main.append(node("h2", {}, title),
    node("div", { class: "bar" }, input, shown, groups && arranged(groups, where, state.get("sort"), filter),
      node("button", { type: "button", id: "unfold", onclick: unfold }, "Unfold"),
      node("button", { type: "button", id: "fold", onclick: fold }, "Fold")), where);
  input.value = state.get("q") || "";
  filter();
  const asked = ["all", "open", "q"].some((name) => state.get(name));
  if (state.get("all") === "open") unfold();
  if (entries.length === 1 || (opensFirst && !asked)) entries[0].open();
  openNamed(state);
}

/// Puts the entries into sections, and gives back the choice of their order. `groups`: `of(facts)` names an entry's section, `title(name, facts
/// of all)` is its heading, and `orders` has functions for Array.sort by name, the first of which is the default.
function arranged(groups, where, wanted, then) {
  const choice = node("select", { id: "sort", "aria-label": "Sort by" }, ...Object.keys(groups.orders).map((name) => node("option", { value: name }, name)));
  const arrange = () => {
    const by = groups.orders[choice.value], sections = new Map();
    for (const one of [...entries].sort((a, b) => by(a.facts, b.facts))) {
      const name = groups.of(one.facts);
      if (!sections.has(name)) sections.set(name, []);
      sections.get(name).push(one);
    }
    where.replaceChildren(...groups.names.filter((name) => sections.has(name)).map((name) => node("section", { class: "group" },
      node("h3", {}, groups.title(name, sections.get(name).map((one) => one.facts))), ...sections.get(name).map((one) => one.details))));
    then();
  };
  if (wanted !== null && Object.hasOwn(groups.orders, wanted)) choice.value = wanted;
  choice.addEventListener("change", () => { arrange(); remember({ sort: choice.value }); });
  arrange();
  return choice;
}

function address() {
  return new URLSearchParams(location.hash.slice(1));
}

function remember(changes) {
  const state = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value) state.set(name, value);
    else state.delete(name);
  }
  try {
    history.replaceState(null, "", "#" + state.toString());
  } catch (error) { /* a page inside another may not have an address */ }
}

function openNamed(state) {
  const name = state.get("open");
  const one = name === null ? undefined : entries.find((other) => other.name === name);
  if (!one) return;
  one.open().then(() => {
    const key = state.get("line");
    if (key) mark(one.details, key, null);
    one.details.scrollIntoView();
  });
}

// Code: lines that were made of each other have one key, and one colour.

function hueOf(key) {
  let sum = 0;
  for (const c of key) sum = (sum * 31 + c.charCodeAt(0)) % 9973;
  return (sum * 137) % 360;
}

function codeLine(text, number, key) {
  const line = node("div", {}, number === null ? null : node("span", { class: "number" }, String(number)), text || " ");
  if (key) {
    line.dataset.key = key;
    line.style.setProperty("--hue", hueOf(key));
  }
  return line;
}

/// Marks the lines of a key in all panes, and brings them into view in those that `from` is not in.
function mark(where, key, from) {
  for (const line of where.querySelectorAll(".on")) line.classList.remove("on");
  for (const pane of where.querySelectorAll(".pane .code")) {
    let first = null;
    for (const line of pane.children) {
      if (line.dataset.key !== key) continue;
      line.classList.add("on");
      first = first || line;
    }
    if (first && pane !== from) pane.scrollTop += first.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  }
}

function pane(title, lines) {
  const code = node("div", { class: "code", tabindex: "0", role: "region", "aria-label": title }, ...lines);
  return node("section", { class: "pane" }, node("h3", {}, title), code);
}

function panes(list, where) {
  const grid = node("div", { class: "panes" }, ...list);
  grid.addEventListener("click", (event) => {
    const line = event.target.closest("[data-key]");
    if (!line) return;
    mark(grid, line.dataset.key, line.parentElement);
    remember({ line: line.dataset.key });
  });
  const choices = list.map((one) => {
    const button = node("button", { type: "button", "aria-pressed": "true" }, one.querySelector("h3").textContent);
    button.addEventListener("click", () => {
      one.hidden = !one.hidden;
      button.setAttribute("aria-pressed", String(!one.hidden));
    });
    return button;
  });
  where.append(node("div", { class: "choices" }, ...choices), grid);
}

// smelt diff

function sizeText(size) {
  return size.join(" x ");
}

function drawNumbers(numbers, where) {
  where.append(node("h3", {}, "Numbers"));
  if (numbers.not_run) {
    where.append(node("p", { class: "quiet" }, "Could not be run: " + numbers.not_run));
    return;
  }
  where.append(table(["launch", "threads", "of a threadgroup", "outcome"], numbers.launches.map((launch, index) => {
    const far = numbers.deviations.filter((one) => one.launch === index).length;
    return [String(index), sizeText(launch.threads), sizeText(launch.group),
      launch.not_compared ? "not compared: " + launch.not_compared : far ? (far === 1 ? "1 buffer differs" : far + " buffers differ") : "the same bits"];
  })));
  if (numbers.deviations.length === 0) return;
  const rows = numbers.deviations.map((one) => [String(one.launch), one.buffer + " " + one.argument, one.different + " of " + one.elements,
    one.type + " " + one.at, one.a, one.b, one.ulps === undefined ? "" : String(one.ulps),
    one.relative === undefined ? "" : one.relative.toPrecision(3)]);
  where.append(table(["launch", "buffer", "different", "furthest apart at", "A", "B", "ULP", "relative error"], rows));
}

function drawDifferences(differences) {
  return table(["", "what", "A", "B"], differences.map((one) => [one.kind, one.what, one.a || "\u2013", one.b || "\u2013"]));
}

function drawDiffOf(row, where) {
  const rest = row.differences.filter((one) => one.kind !== "numbers");  // those have tables of their own
  if (rest.length) where.append(drawDifferences(rest));
  if (row.numbers) drawNumbers(row.numbers, where);
  if (!row.code) return;
  const kinds = { "-": "minus", "+": "plus", "@": "place" };
  const lines = row.code.lines.map((text) => node("div", { class: kinds[text[0]] || null }, text));
  where.append(node("h3", {}, "AIR: " + counted(row.code.removed, "line") + " of A, " + counted(row.code.added, "line") + " of B"),
    node("div", { class: "code diff", tabindex: "0", role: "region", "aria-label": "AIR" }, ...lines));
  if (row.code.left_out) where.append(node("p", { class: "quiet" }, "\u2026 and " + counted(row.code.left_out, "line") + " more"));
}

function namesOf(title, names) {
  if (names.length === 0) return null;
  return node("details", {}, node("summary", {}, title + ": " + names.length), node("p", { class: "name" }, names.join(" ")));
}

function showDiff() {
  main.append(node("h1", {}, "smelt diff"),
    node("p", { class: data.differs ? "bad" : "good" }, data.differs ? "The two differ." : "No differences."),
    table(["", "file", "bytes", "SHA-256"], ["a", "b"].map((side) => [side.toUpperCase(), data[side].file, String(data[side].bytes), data[side].sha256])));
  for (const [side, names] of [["A", data.only_a], ["B", data.only_b]])
    if (names.length) main.append(node("p", { class: "bad" }, "Libraries only in " + side + ": " + names.join(", ")));
  for (const library of data.libraries) {
    const title = library.a.target === library.b.target ? library.a.target : library.a.target + " and " + library.b.target;
    main.append(node("h2", {}, title), node("p", {}, counted(library.same.length + library.different.length, "function") + " compared, " +
      library.different.length + " differ"));
    if (library.differences.length) main.append(drawDifferences(library.differences));
    for (const list of [namesOf("Only in A", library.only_a), namesOf("Only in B", library.only_b),
      namesOf("The same", library.same.map((one) => one.name))]) if (list) main.append(list);
    for (const one of library.different) {
      const kinds = [...new Set(one.kinds)];
      entry(one.name, [{ text: one.type || "function" }, ...kinds.map((text) => ({ text: text, kind: "bad" }))], kinds,
        one.part, drawDiffOf);
    }
  }
  list("What differs", "functions and kinds of differences");
}

// smelt explain

function sizePicture() {
  const most = 24;
  const largest = [...data.functions].sort((a, b) => b.air_bytes + (b.cpu_bytes || 0) - a.air_bytes - (a.cpu_bytes || 0)).slice(0, most);
  const width = Math.max(300, Math.min(900, main.clientWidth - 20)), left = width < 600 ? 130 : 300, row = 26;
  const letters = Math.floor(left / 7.2);
  const scale = (width - left - 90) / Math.max(1, ...largest.map((f) => Math.max(f.air_bytes, f.cpu_bytes || 0)));
  const picture = drawn("svg", { viewBox: "0 0 " + width + " " + (largest.length * row + 6), role: "img", "aria-label": "Bytes of AIR and of CPU code" });
  largest.forEach((f, i) => {
    const y = i * row + 4, label = f.name.length > letters ? f.name.slice(0, letters - 1) + "\u2026" : f.name;
    const link = drawn("a", { href: "#open=" + encodeURIComponent(f.name) });
    link.append(drawn("title", {}, f.name + ": " + f.air_bytes + " bytes of AIR" + (f.cpu_bytes ? ", " + f.cpu_bytes + " of CPU code" : "")),
      drawn("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, label));
    const bars = [["air", f.air_bytes], ["cpu", f.cpu_bytes]].filter((bar) => bar[1]);
    bars.forEach(([kind, bytes], k) => link.append(
      drawn("rect", { class: kind, x: left, y: y + 11 * k, width: Math.max(1, bytes * scale), height: 10 }),
      drawn("text", { class: "bytes", x: left + bytes * scale + 6, y: y + 11 * k + 9 }, String(bytes))));
    picture.append(link);
  });
  const legend = node("p", { class: "legend" });
  for (const [kind, text] of [["#6f9fe0", "bytes of AIR"], ["#e0a13f", "bytes of CPU code"]]) {
    const box = node("i");
    box.style.background = kind;
    legend.append(node("span", {}, box, text));
  }
  const title = data.functions.length > most ? "Sizes of the " + most + " largest" : "Sizes";
  main.append(node("h2", {}, title), legend, node("div", {}, picture));
}

const TERMS = [
  ["source", "Metal source; it is here if the code has debug lines (compile with -g, and pass --source for a library)"],
  ["AIR", "the LLVM instructions in a Metal library, which Apple's driver compiles for the GPU"],
  ["CPU code", "the machine code that smelt makes from the AIR; it runs the 32 threads of a SIMD group as one vector"],
  ["line colour", "lines of one colour belong together: click a line to see the others"],
  ["function constant", "a value that the program sets before it builds the pipeline"],
  ["hash", "the SHA-256 that the library states for each function's AIR"],
  ["finding", "a rule of Metal libraries that the file breaks, as smelt verify reports it"],
];

function drawTerms() {
  main.append(node("details", { class: "terms" }, node("summary", {}, "Terms on this page"),
    node("dl", {}, ...TERMS.flatMap(([term, meaning]) => [node("dt", {}, term), node("dd", {}, meaning)]))));
}

function drawArguments(f, where) {
  if (f.arguments.length) {
    where.append(node("h3", {}, "Arguments"), table(["", "name", "kind", "place", "type", "access", "bytes"],
      f.arguments.map((a) => [String(a.index), a.name, a.kind === "builtin" ? a.air_kind : a.kind, a.kind === "builtin" ? "" : String(a.location), a.type_name,
        a.access === "none" ? "" : a.access, a.size ? String(a.size) : ""])));
  }
  if (f.constants.length)
    where.append(node("h3", {}, "Function constants"), table(["index", "name", "type", "required"],
      f.constants.map((c) => [String(c.index), c.name, c.type_name, c.required ? "yes" : "no"])));
}

function drawFindings(findings, where) {
  if (findings.length === 0) return;
  where.append(node("h3", {}, "Findings of verify"),
    table(["", "check", "place", "what"], findings.map((one) => [one.severity, one.check, one.place, one.message])));
}

/// The source lines that the code was made from, with some around them.
function sourcePanes(files, keys) {
  const used = new Map();
  for (const key of keys) {
    const place = /^s(\d+):(\d+)$/.exec(key || "");
    if (!place) continue;
    const file = Number(place[1]), line = Number(place[2]);
    if (!used.has(file)) used.set(file, { first: line, last: line });
    const range = used.get(file);
    range.first = Math.min(range.first, line);
    range.last = Math.max(range.last, line);
  }
  const made = [];
  for (const [file, range] of [...used].sort((a, b) => a[0] - b[0])) {
    const name = files[file];
    if (!Object.hasOwn(data.sources, name)) continue;
    const all = data.sources[name].split("\n");
    const first = Math.max(1, range.first - 12), last = Math.min(all.length, range.last + 6);
    const lines = [];
    for (let n = first; n <= last; ++n) {
      const key = "s" + file + ":" + n;
      lines.push(codeLine(all[n - 1], n, keys.has(key) ? key : null));
    }
    made.push(pane(name + ", lines " + first + " to " + last, lines));
  }
  return made;
}

function drawFunction(f, where) {
  if (f.problem) where.append(node("p", { class: "bad" }, f.problem));
  const made = new Set(f.cpu_lines);
  const airKeys = f.air.map((_, i) => f.places[i] ? "s" + f.places[i][0] + ":" + f.places[i][1] : made.has(i + 1) ? "a" + (i + 1) : null);
  const keys = new Set(airKeys.filter((key) => key));
  const list = sourcePanes(f.files, keys);
  if (f.air.length) list.push(pane("AIR", f.air.map((text, i) => codeLine(text, i + 1, airKeys[i]))));
  if (f.cpu.length) list.push(pane("CPU code, " + f.level, f.cpu.map((text, i) => codeLine(text, null, f.cpu_lines[i] ? airKeys[f.cpu_lines[i] - 1] : null))));
  if (list.length) panes(list, where);
  where.append(node("p", { class: "quiet" }, f.facts.join("; ")));
  drawArguments(f, where);
  drawFindings(f.findings, where);
}

function showExplain() {
  main.append(node("h1", {}, data.file), node("p", { class: "quiet" }, data.facts.join("; ")));
  drawFindings(data.findings, main);
  for (const one of data.notes) main.append(node("p", { class: "quiet" }, one));
  drawTerms();
  for (const f of data.functions) {
    const tags = [{ text: f.type }, { text: sizeOf(f.air_bytes) + " of AIR" }];
    if (f.cpu_bytes) tags.push({ text: sizeOf(f.cpu_bytes) + " of CPU code" });
    if (f.findings) tags.push({ text: counted(f.findings, "finding"), kind: "bad" });
    if (f.problem) tags.push({ text: "no CPU code", kind: "bad" });
    entry(f.name, tags, [f.type, ...f.words], f.part, drawFunction);
  }
  list("Functions", "functions, arguments and types", { opensFirst: true });
  sizePicture();
}

// smelt store page

function ago(seconds) {
  if (seconds < 60) return "just now";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
  if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + " h ago";
  return Math.floor(seconds / 86400) + " days ago";
}

/// The store knows the hour alone.
function usedAgo(hour) {
  const hours = Math.floor(data.now / 3600) - hour;
  return hours < 1 ? "this hour" : ago(hours * 3600);
}

function storeName(one) {
  if (one.damage) return "damaged";
  if (one.functions.length > 3) return one.functions.slice(0, 3).join(", ") + " and " + (one.functions.length - 3) + " more";
  return one.functions.join(", ") || one.name || one.source || one.kind;
}

const KINDS = {
  library: ["library", "libraries", "packages with all kernels of a source"],
  kernel: ["kernel", "kernels", "single kernels, so an edit compiles only the changed ones"],
  file: ["file", "files", "objects and libraries of metal -c and metallib"],
  other: ["other entry", "other entries", "entries of Triton, Inductor and others"],
  diff: ["library of smelt diff", "libraries of smelt diff", "checked code that smelt diff made to compare numbers"],
  damaged: ["damaged entry", "damaged entries", "the next find drops them and compiles again"],
};

const STORED = {
  names: Object.keys(KINDS),
  of: (one) => one.damage ? "damaged" : one.source.includes("(smelt diff)") ? "diff" : Object.hasOwn(KINDS, one.kind) ? one.kind : "other",
  title: (name, all) => counted(all.length, KINDS[name][0], KINDS[name][1]) + ", " + sizeOf(all.reduce((sum, one) => sum + one.bytes, 0)) + ", " +
    counted(all.reduce((sum, one) => sum + one.hits, 0), "hit") + ": " + KINDS[name][2],
  orders: {
    "last used": (a, b) => b.used_hour - a.used_hour || b.created - a.created,
    size: (a, b) => b.bytes - a.bytes,
    hits: (a, b) => b.hits - a.hits,
    "time to compile": (a, b) => b.cost_us - a.cost_us,
    oldest: (a, b) => a.created - b.created,
    name: (a, b) => storeName(a).localeCompare(storeName(b)),
  },
};

function drawStored(one, where) {
  const facts = [["key", one.key], ["name", [one.name, one.version].filter((text) => text).join(" ")], ["tags", one.tags.join(", ")], ["source", one.source],
    ["SHA-256 of the source", one.source_sha256], ["compiler", one.compiler], ["origin", one.origin.trim().split("\n").join("; ")],
    ["made", new Date(one.created * 1000).toISOString() + ", in " + (one.cost_us / 1000).toFixed(1) + " ms"],
    ["used", usedAgo(one.used_hour) + ", " + counted(one.hits, "hit")], ["damage", one.damage || ""]];
  where.append(table(["", ""], facts.filter((row) => row[1])));
  if (one.slices.length) where.append(node("h3", {}, "Targets"), table(["target", "size"], one.slices.map((slice) => [slice.target, sizeOf(slice.bytes)])));
  if (one.functions.length) where.append(node("h3", {}, counted(one.functions.length, "kernel")), node("p", { class: "name" }, one.functions.join(" ")));
}

function showStore() {
  const bytes = data.entries.reduce((sum, one) => sum + one.bytes, 0);
  main.append(node("h1", {}, "Store " + data.folder), node("p", { class: "quiet" }, counted(data.entries.length, "entry", "entries") + ", " + sizeOf(bytes) + ", kept in " +
    sizeOf(data.live_bytes) + "; " + sizeOf(data.disk_bytes) + " on disk. " + counted(data.hits, "hit") + ", " + counted(data.misses, "miss", "misses") + ", " +
    (data.microseconds_saved / 1e6).toFixed(1) + " s of compiling saved. As of " + new Date(data.now * 1000).toISOString() + "."));
  for (const one of data.entries) {
    const targets = [...new Set(one.slices.map((slice) => slice.target))];
    const tags = [one.kind, sizeOf(one.bytes), "made " + ago(data.now - one.created), "used " + usedAgo(one.used_hour), counted(one.hits, "hit"), ...targets];
    entry(storeName(one), [...tags.map((text) => ({ text: text })), ...one.tags.map((text) => ({ text: text, kind: "good" })),
      ...(one.damage ? [{ text: "damaged", kind: "bad" }] : [])], [one.key, one.source, ...one.functions, ...targets, ...one.tags], one.part, drawStored, one);
  }
  list("Entries", "kernels, sources, targets and tags", { groups: STORED });
}

if (data.kind === "diff") showDiff();
else if (data.kind === "store") showStore();
else showExplain();
window.addEventListener("hashchange", () => openNamed(address()));
