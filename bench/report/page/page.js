// The views of a report. All figures are those of the data in the page; nothing is fetched.
const state = { run: 0, op: -1, sort: "time_us", down: true, filter: "", colour: "time", from: 0, to: 1, zoom: 1 };
const runs = [];
data.files.forEach((file, f) => file.runs.forEach((run, at) => runs.push({ file, run, at, name: data.files.length > 1 ? `${data.names[f]}: ${run.device}` : run.device, source: f })));
const timed = runs.filter(r => r.run.latency_us !== undefined);
const faster = (a, r) => !a || r.run.latency_us < a.run.latency_us ? r : a;
// bestOf is the fastest run of a file, referenceOf the one that its speeds are relative to: that of the CPU, or the first. Files may be of different
// networks, so that nothing is compared across them.
const timedOf = source => timed.filter(r => r.source === source), bestOf = source => timedOf(source).reduce(faster, undefined);
const referenceOf = source => timedOf(source).find(r => r.run.device === "cpu") || timedOf(source)[0];

// The causes give a part or a reason its colour.
const causes = data.causes || [];
const causeOf = (kind, word) => (words.find(w => w.kind === kind && w.name === word) || {}).cause || (kind === "part of a latency" ? "software around the engine" : "waiting inside the engine");
const colourOfCause = name => (causes.find(c => c.name === name) || { colour: "#bdbdb8" }).colour;
const partColour = part => colourOfCause(causeOf("part of a latency", part)), reasonColour = reason => colourOfCause(causeOf("stall reason", reason));
// legendOf is the legend of causes, in the order of the palette.
const legendOf = (parent, seen) => legend(parent, causes.map(c => c.name).filter(n => seen.has(n)), colourOfCause);
// stacked draws a bar of parts; widths are shares of scale.
function stacked(g, y, h, width, parts, scale, unit, kind) {
  let x = 0;
  for (const [name, v] of parts) { const w = scale > 0 ? width * v / scale : 0; if (w > 0) el(el(g, "svg:rect", { x, y, width: w, height: h, class: "part", fill: colourOfCause(causeOf(kind, name)) }), "svg:title", {}, `${name}: ${fixed(v, 2)} ${unit} (${causeOf(kind, name)}). ${meaning(name)}`); x += w; }
}
// byCause sorts parts by their cause, in the order of the palette, the largest of a cause first.
const byCause = (parts, kind) => { const at = n => causes.findIndex(c => c.name === causeOf(kind, n)); return parts.sort((a, b) => at(a[0]) - at(b[0]) || b[1] - a[1]); };
// nameOf is the name that the network's file gives an operation, or else its first output.
const nameOf = o => o.node || o.tensor || "";
// explained appends a sentence; a stall reason that it names has its meaning.
function explained(parent, line) {
  const p = el(parent, "p"), m = /^(.* bound by )(\w+)(.*)$/.exec(line);
  if (!m || !meaning(m[2])) { say(p, line); return; }
  say(p, m[1]); el(p, "abbr", { title: meaning(m[2]), tabindex: 0 }, m[2]); say(p, m[3]);
}
const share = (o, r) => r.latency_us ? 100 * o.time_us / r.latency_us : undefined;
// peak is the share of the engine's multiply-accumulates per second, in percent.
const peak = (o, file) => { const roof = (file.roofs || {})[o.device]; return roof && o.macs > 0 && o.time_us > 0 ? 100 * o.macs / (o.time_us / 1e6) / roof.macs_per_s : undefined; };

const energy = uj => uj >= 1000 ? fixed(uj / 1000, 2) + " mJ" : fixed(uj, 0) + " uJ";
// judged is the class of a change of time, energy or traffic in percent or in units: less is better, a change that the figure does not show is none.
const judged = (x, least = 0.05) => Math.abs(x) < least ? undefined : x < 0 ? "better" : "worse";

// groupsOf is the time of a run by cause, in the order of the palette.
function groupsOf(run) {
  const groups = new Map(causes.map(c => [c.name, 0]));
  for (const [p, us] of Object.entries(run.latency_parts_us || {})) groups.set(causeOf("part of a latency", p), (groups.get(causeOf("part of a latency", p)) || 0) + us);
  return new Map([...groups].filter(g => g[1] > 0));
}

// card is a run in one box.
function card(parent, r, seen) {
  const c = el(parent, "div", { class: timedOf(r.source).length > 1 && r === bestOf(r.source) ? "card best" : "card" }), first = referenceOf(r.source);
  el(c, "div", {}, data.diff ? r.name : r.run.device);
  el(c, "div", { class: "big", "data-value": r.run.latency_us }, spell(r.run.latency_us));
  const bar = el(c, "div", { class: "bar" }), groups = groupsOf(r.run), all = sum([...groups.values()]);
  for (const [name, us] of groups) { seen.add(name); el(bar, "i", { style: `width:${100 * us / all}%;background:${colourOfCause(name)}`, title: `${name}: ${fixed(100 * us / all, 0)} %, ${spell(us)}` }); }
  const facts = [energy(r.run.energy_uj)];
  if (first !== r) facts.push(`${fixed(first.run.latency_us / r.run.latency_us, 2)} times the speed of ${first.run.device}`);
  if (r.run.first_use) facts.push(`first use ${spell(r.run.first_use.first_us)}`);
  say(el(c, "div", { class: "note" }), facts.join(" · "));
}

// answer has the sentences and the runs of each file; sentences that all files share stand once. Where two files are compared, the changes stand above and
// have the cards.
function answer() {
  const s = section("answer"), many = data.files.length > 1, seen = new Set(), saidBy = data.files.map(f => f.answer || []);
  const common = many && !data.diff ? saidBy[0].filter(line => saidBy.every(list => list.includes(line))) : [];
  if (data.diff) s.firstElementChild.textContent = "Each by itself";
  data.files.forEach((f, i) => {
    if (saidBy[i].length) {
      const box = data.diff ? el(s, "details") : s;
      if (data.diff) el(box, "summary", {}, data.names[i]); else if (many) el(box, "h3", {}, data.names[i]);
      const p = el(box, "div", { class: "answer" });
      saidBy[i].filter(line => !common.includes(line)).forEach(line => explained(p, line));
    }
    const cards = el(s, "div", { class: "cards" });
    timedOf(i).filter(r => !diffOf(r)).forEach(r => card(cards, r, seen));
    if (!cards.children.length) cards.remove();
  });
  common.forEach(line => note(s, line));
  if (seen.size) legendOf(s, seen);
}

function advice() {
  const s = section("advice"), list = (data.advice || []).map((a, i) => ({ a, name: data.names[i] })).filter(x => x.a && x.a.changes.length);
  s.hidden = !list.length;
  for (const { a, name } of list) {
    if (data.files.length > 1) el(s, "h3", {}, name);
    note(s, `On ${a.device}: ${spell(a.latency_us)} now. Predicted from the profile, then simulated; more: nnsoc advise.`);
    const body = table(s, [{ name: "change", text: true }, "gain (%)", "simulated", "predicted", { name: "why", text: true }]);
    for (const c of a.changes) {
      const row = el(body, "tr"), ok = c.status === "ok";
      say(el(row, "td", { class: "text long" }), c.change);
      number(row, ok ? c.gain_percent : undefined, 1, !ok ? undefined : judged(-c.gain_percent));
      el(row, "td", { "data-value": ok ? c.latency_us : undefined }, ok ? spell(c.latency_us) : c.status);
      el(row, "td", { "data-value": c.predicted_latency_us }, spell(c.predicted_latency_us));
      say(el(row, "td", { class: "text long" }), c.reason);
    }
  }
}

function summary() {
  const s = section("summary");
  const body = table(s, ["run", "latency (us)", "first use (us)", "compile (us)", "energy (uJ)", "engine cycles", "clock (MHz)", "speed", "mismatches", "on the CPU", { name: "status", text: true }], "devices");
  runs.forEach(r => {
    const row = el(body, "tr"), d = (r.run.devices || []).length === 1 ? r.run.devices[0] : undefined;
    el(row, "th", { scope: "row" }, r.name);
    const cold = r.run.first_use || {};
    for (const v of [r.run.latency_us, cold.first_us, cold.compile_us, r.run.energy_uj]) number(row, v, 1);
    number(row, r.run.engine_cycles, 0); number(row, d && d.clock_mhz, 0);
    el(row, "td", {}, r.run.latency_us > 0 ? fixed(referenceOf(r.source).run.latency_us / r.run.latency_us, 2) + "x" : "-");
    number(row, sum((r.run.outputs || []).map(o => o.mismatches)), 0); number(row, r.run.fallback_operations, 0); el(row, "td", { class: "text" }, r.run.status);
  });
  note(s, `Latency: of later results, the caches warm. First use: of a phone that has been idle, after compiling. Speed: relative to ${[...new Set(data.files.map((_, i) => referenceOf(i)).filter(r => r).map(r => r.run.device))].join(", ")}${data.files.length > 1 ? " of the same file" : ""}.`);
  el(s, "h3", {}, "Parts of the latency");
  const most = Math.max(...timed.map(r => r.run.latency_us), 0), seen = new Set(), W = room(), left = narrow() ? 0 : 190, H = narrow() ? 40 : 26;
  const g = svg(s, W, timed.length * H + 6, "parts of the latency");
  timed.forEach((r, i) => {
    const kind = "part of a latency", parts = byCause(Object.entries(r.run.latency_parts_us || {}).filter(p => p[1] > 0), kind);
    parts.forEach(p => seen.add(causeOf(kind, p[0])));
    el(g, "svg:text", { x: 0, y: i * H + (left ? 17 : 13) }, clip(r.name, (left || W) - 70));
    el(g, "svg:text", { x: (left || W) - 8, y: i * H + (left ? 17 : 13), "text-anchor": "end", class: "dim" }, spell(r.run.latency_us));
    stacked(el(g, "svg:g", { transform: `translate(${left},0)` }), i * H + (left ? 4 : 18), 18, W - left, parts, most, "us", kind);
  });
  legendOf(s, seen);
}

const select = op => { state.op = op; mark(); };
// selects are the attributes of a row that selects its operation, by mouse and keyboard.
const selects = op => ({ "data-op": op, tabindex: 0, onclick: () => select(op), onkeydown: e => { if (e.key === "Enter") select(op); } });
function mark() {
  const r = runs[state.run], o = r && r.run.operations.find(o => o.index === state.op && state.op >= 0);
  document.getElementById("selection").textContent = o ? `${o.index} ${o.type}${nameOf(o) ? " " + nameOf(o) : ""} on ${o.device}: ${fixed(o.time_us, 1)} us, ${fixed(o.energy_uj, 1)} uJ, bound by ${o.bound_by}` : "";
  for (const e of document.querySelectorAll("[data-op]")) e.classList.toggle("selected", state.op >= 0 && Number(e.dataset.op) === state.op);
  describe(o, r);
  const row = document.querySelector("#operations tr.selected");
  if (row && !row.parentElement.contains(document.activeElement)) row.parentElement.parentElement.parentElement.scrollTop = row.offsetTop - 120;
}

// depths gives each span the row below those that contain it.
function depths(spans) {
  const open = [];
  return spans.map((x, i) => [x, i]).sort((a, b) => a[0][0] - b[0][0] || b[0][1] - a[0][1]).map(([x]) => {
    while (open.length && open[open.length - 1] <= x[0]) open.pop();
    open.push(x[1]);
    return { x, depth: open.length - 1 };
  });
}

function timeline() {
  const s = section("timeline"), r = runs[state.run], t = data.timelines && data.timelines[r.source];
  const processes = t ? t.processes.filter(p => p.name === r.run.device || p.name.startsWith(r.run.device + ": ")) : [];
  const tracks = processes.flatMap(p => [...p.tracks].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })).map(k => ({ name: p.name.endsWith(" " + k.name) ? p.name : `${p.name} / ${k.name}`, spans: depths(k.spans) })));
  s.hidden = !tracks.length;
  if (!tracks.length) return; // of a file of a run
  let lo = Infinity, hi = 0;
  for (const k of tracks) { k.rows = 1; for (const { x, depth } of k.spans) { lo = Math.min(lo, x[0]); hi = Math.max(hi, x[1]); k.rows = Math.max(k.rows, depth + 1); } }
  const bare = n => t.names[n].replace(/^\[[A-Z_]+\]/, ""), seen = new Set();
  // causeOfSpan is that of the span; a kernel has that of its operation, and what contains parts has none.
  const boundBy = new Map(r.run.operations.map(o => [o.index, o.bound_by]));
  const causeOfSpan = (n, op) => (t.causes || [])[n] || (op >= 0 ? causeOf("stall reason", boundBy.get(op) || "issue") : "");
  const span = hi - lo || 1, ROW = 15, left = narrow() ? 0 : 190, head = left ? 4 : 18;
  const c = el(s, "p", { class: "controls" }), box = el(s, "div", { class: "scroll", tabindex: 0, "aria-label": "timeline: + and - zoom, arrows move" }), under = el(s, "div");
  const draw = () => {
    box.replaceChildren(); under.replaceChildren(); seen.clear();
    const W = room() - left - 14, tall = sum(tracks.map(k => k.rows * ROW + head)), g = svg(box, W + left + 8, tall + 24, "timeline"), a = lo + span * state.from, b = lo + span * state.to, scale = W / (b - a), unit = b - a < 3000 ? ["us", 1] : ["ms", 1e-3];
    xAxis(g, left, W, 0, tall, a * unit[1], b * unit[1], unit[0]);
    shown.dataset.range = `${a} ${b}`; shown.textContent = ` ${fixed(a, 1)} to ${fixed(b, 1)} us`;
    let top = 0;
    for (const k of tracks) {
      el(g, "svg:text", { x: 2, y: top + (left ? 14 : 13) }, clip(k.name, left || W));
      const y0 = top + (left ? 2 : 17), drawn = Array(k.rows).fill(-1);
      for (const { x: [x0, x1, op, name], depth } of k.spans) {
        if (x1 < a || x0 > b) continue;
        const x = Math.max(0, (x0 - a) * scale), w = Math.min(W, (x1 - a) * scale) - x;
        if (x + w < drawn[depth] + 0.5) continue; // hidden below the one before
        drawn[depth] = x + w;
        const cause = causeOfSpan(name, op), fill = cause ? colourOfCause(cause) : "#bdbdb8", wide = w > 3;
        if (cause) seen.add(cause);
        const e = el(g, "svg:rect", { x: left + x, y: y0 + depth * ROW, width: Math.max(0.7, w), height: ROW - 2, class: wide ? "node" : "node thin", fill, "fill-opacity": op >= 0 && op % 2 ? 0.72 : 1, "data-op": op, onclick: () => select(op) });
        el(e, "svg:title", {}, `${bare(name)}: ${fixed(x0, 2)} to ${fixed(x1, 2)} us, ${spell(x1 - x0)}${cause ? ` (${cause})` : ""}`);
        const label = bare(name);
        if (w > label.length * 6.6 + 8) el(g, "svg:text", { x: left + x + 4, y: y0 + depth * ROW + 10, class: "on", style: `fill:${light(fill) ? "#000" : "#fff"}` }, label);
      }
      top += k.rows * ROW + head;
    }
    legendOf(under, seen);
    note(under, "A span stands below the one that contains it. An operation has the colour of what most of its cycles are charged to; neighbours differ in shade.");
    mark();
  };
  const zoom = (f, at = 0.5) => { const w = Math.min(1, Math.max(1e-5, (state.to - state.from) * f)), m = state.from + (state.to - state.from) * at; state.from = Math.max(0, Math.min(1 - w, m - w * at)); state.to = state.from + w; draw(); };
  const move = d => { const w = state.to - state.from; state.from = Math.max(0, Math.min(1 - w, state.from + d * w)); state.to = state.from + w; draw(); };
  for (const [n, f] of [["+", () => zoom(0.5)], ["−", () => zoom(2)], ["←", () => move(-0.25)], ["→", () => move(0.25)], ["all", () => zoom(1e9)]]) el(c, "button", { onclick: f }, n);
  const shown = el(c, "span", { class: "note" });
  if (t.dropped) el(c, "span", { class: "note" }, ` ${t.dropped} spans are left out`);
  box.addEventListener("keydown", e => { const f = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[e.key]; if (f) { f(); e.preventDefault(); } });
  box.addEventListener("wheel", e => { if (e.ctrlKey || e.shiftKey) { zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, (e.offsetX - left) / (room() - left)))); e.preventDefault(); } }, { passive: false });
  draw();
}

function types() {
  const s = section("types"), { run, file } = runs[state.run], list = run.type_sums || [];
  s.hidden = !list.length;
  if (!list.length) return;
  const several = new Set(list.map(t => t.device)).size > 1;
  const body = table(s, [{ name: "operation", text: true }, ...several ? [{ name: "device", text: true }] : [], "time (us)", "share (%)", "of peak (%)", { name: "bound by", text: true }, "count", "MACs", "energy (uJ)", "DRAM (bytes)"]);
  const most = Math.max(...list.map(t => t.time_us));
  for (const t of list) {
    const row = el(body, "tr");
    el(row, "td", { class: "text", title: meaning(t.type) || undefined }, t.type);
    if (several) el(row, "td", { class: "text" }, t.device);
    number(row, t.time_us, 1, "filled").style.setProperty("--part", `${100 * t.time_us / most}%`);
    number(row, share(t, run), 1); number(row, peak(t, file), 1);
    reasonCell(row, t.bound_by);
    number(row, t.operation_count, 0); number(row, t.macs, 0); number(row, t.energy_uj, 1); number(row, t.dram_bytes, 0);
  }
}
// reasonCell is a stall reason with the colour of its cause and its meaning.
function reasonCell(row, reason) { const td = el(row, "td", { class: "text", title: meaning(reason) || undefined }); if (reason) el(td, "i", { class: "dot", style: `background:${reasonColour(reason)}` }); td.append(reason || "-"); }

// typeCell is the type of an operation, and the end of the name that its file gives it.
function typeCell(row, o) {
  const name = nameOf(o), td = el(row, "td", { class: "text", title: [meaning(o.type), name].filter(x => x).join(" ") || undefined }, o.type);
  if (name) el(td, "span", { class: "name" }, name.length > 28 ? "…" + name.slice(-27) : name);
}

const columns = [["index", "#", o => o.index < 0 ? undefined : o.index, 0], ["type", "operation", o => o.type], ["device", "device", o => o.device],
  ["time_us", "time (us)", o => o.time_us, 1], ["change", "change (us)", changeOf, 1], ["share", "share (%)", (o, r) => share(o, r.run), 1], ["peak", "of peak (%)", (o, r) => peak(o, r.file), 1], ["bound_by", "bound by", o => o.bound_by],
  ["output", "output", o => ((o.output_shapes || [])[0] || []).join("×")], ["macs", "MACs", o => o.macs, 0], ["cycles", "cycles", o => o.cycles, 0], ["energy_uj", "energy (uJ)", o => o.energy_uj, 1], ["dram_bytes", "DRAM (bytes)", o => o.dram_bytes, 0], ["place", "place", o => o.outside_nnapi || ""]];
function operations() {
  const s = section("operations"), r = runs[state.run], shown = columns.filter(([k]) => k === "device" ? new Set(r.run.operations.map(o => o.device)).size > 1 : k === "change" ? diffOf(r) : k === "cycles" ? !diffOf(r) : k !== "place" || r.run.operations.some(o => o.outside_nnapi));
  const c = el(s, "p", { class: "controls" }), input = el(c, "input", { type: "search", placeholder: "filter: type, name, device, stall", "aria-label": "filter operations", value: state.filter });
  const t = el(scroll(s), "table"), head = el(el(t, "thead"), "tr"), body = el(t, "tbody"), most = Math.max(...r.run.operations.map(o => o.time_us || 0), 1e-12), mostChange = Math.max(...r.run.operations.map(o => Math.abs(changeOf(o, r) || 0)));
  for (const [k, name, , digits] of shown) { const th = el(head, "th", { scope: "col", class: digits === undefined ? "text" : undefined, "data-key": k }); el(th, "button", { title: meaning(name) || undefined, onclick: () => { state.down = state.sort === k ? !state.down : digits !== undefined && k !== "index"; state.sort = k; rows(); } }, name); }
  const rows = () => {
    body.replaceChildren();
    for (const th of head.children) th.setAttribute("aria-sort", th.dataset.key === state.sort ? (state.down ? "descending" : "ascending") : "none");
    const by = columns.find(x => x[0] === state.sort)[2], want = state.filter.toLowerCase();
    const list = r.run.operations.filter(o => !want || `${o.index} ${o.type} ${nameOf(o)} ${o.device} ${o.bound_by} ${o.outside_nnapi || ""}`.toLowerCase().includes(want));
    const key = o => { const v = by(o, r); return v === undefined ? -Infinity : v; };
    list.sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1); });
    for (const o of list) {
      const row = el(body, "tr", { "data-op": o.index, tabindex: 0, onclick: () => select(o.index) });
      for (const [k, , f, digits] of shown) {
        const v = f(o, r);
        if (k === "bound_by") reasonCell(row, v);
        else if (k === "type") typeCell(row, o);
        else if (k === "change") changed(row, v, digits, mostChange);
        else if (digits === undefined) el(row, "td", { class: "text" }, v === undefined || v === "" ? "-" : v);
        else if (k === "time_us") number(row, v, digits, "filled").style.setProperty("--part", `${100 * v / most}%`);
        else number(row, v, digits);
      }
    }
    mark();
  };
  input.addEventListener("input", () => { state.filter = input.value; rows(); });
  body.addEventListener("keydown", e => { const d = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[e.key], row = e.target.closest("tr"), next = d && row && row[d]; if (next) { next.focus(); select(Number(next.dataset.op)); e.preventDefault(); } else if (e.key === "Enter" && row) select(Number(row.dataset.op)); });
  rows();
}

// stalls has the cycles of the operations with the most time; what lies around operations is in the cards and the timeline.
function stalls() {
  const s = section("stalls"), run = runs[state.run].run, list = run.operations.filter(o => o.index >= 0 && o.cycles > 0).sort((a, b) => b.time_us - a.time_us), seen = new Set(), kind = "stall reason";
  const FEW = 16, ops = state.all ? list : list.slice(0, FEW);
  note(s, "Cycles of each operation by what they were spent on, the costliest first; software around the operations is not here.");
  if (!ops.length) { note(s, "No operation has cycles of its own."); return; }
  const W = room() - 14, left = narrow() ? 0 : 230, H = left ? 19 : 34, most = ops[0].time_us, g = svg(scroll(s), W, ops.length * H + 6, "stalls");
  ops.forEach((o, i) => {
    const parts = byCause(Object.entries(o.stall_cycles || {}), kind), all = sum(parts.map(p => p[1])), y = i * H + (left ? 3 : 17), long = most > 0 ? (W - left - 6) * o.time_us / most : 0;
    parts.forEach(p => seen.add(causeOf(kind, p[0])));
    el(g, "svg:text", { x: 2, y: i * H + (left ? 14 : 13) }, clip(`${o.index} ${o.type}`, (left || W) - 75));
    el(g, "svg:text", { x: (left || W) - 8, y: i * H + (left ? 14 : 13), "text-anchor": "end", class: "dim" }, spell(o.time_us));
    el(g, "svg:rect", { x: left, y: y - 1, width: 3 + long, height: 15, class: "node", fill: "none", "data-op": o.index, onclick: () => select(o.index) });
    stacked(el(g, "svg:g", { transform: `translate(${left + 2},0)` }), y, 13, long, parts, all, "cycles", kind);
  });
  if (list.length > FEW) el(el(s, "p", { class: "controls" }), "button", { "aria-pressed": Boolean(state.all), onclick: () => { state.all = !state.all; stalls(); mark(); } }, state.all ? `the first ${FEW}` : `all ${list.length} operations`);
  legendOf(s, seen);
}

// occupancy draws the bytes of tensors that are needed, over the time of the operations of a run.
function occupancy(s) {
  const { run, file } = runs[state.run], t = file.tensors, live = t && t.live_bytes;
  if (!live || !live.length) return;
  const times = live.map((_, i) => sum(run.operations.filter(o => o.index === i).map(o => o.time_us || 0))), all = sum(times);
  el(s, "h3", {}, "Tensors in memory");
  const p = note(s, "Inputs, outputs and values between operations while each operation runs, whatever memory holds them: at most ");
  el(p, "span", { "data-value": t.peak_bytes }, bytes(t.peak_bytes)); p.append(` (operation ${t.peak_operation}), beside `); el(p, "span", { "data-value": t.constant_bytes }, bytes(t.constant_bytes)); p.append(" of constants.");
  const W = room(), H = 130, L = 66, B = 24, T = 10, Y = v => H - B - v / t.peak_bytes * (H - B - T), g = svg(s, W, H, "tensors in memory over time");
  for (const v of ticks(0, t.peak_bytes, 4)) { el(g, "svg:line", { class: "grid", x1: L, x2: W - 4, y1: Y(v), y2: Y(v) }); el(g, "svg:text", { x: L - 6, y: Y(v) + 4, "text-anchor": "end" }, bytes(v)); }
  let x = L;
  live.forEach((size, i) => {
    const w = (W - L - 4) * (all > 0 ? times[i] / all : 1 / live.length), o = run.operations.find(o => o.index === i);
    if (w > 0.05) el(el(g, "svg:rect", { x, y: Y(size), width: w, height: Y(0) - Y(size), class: "node", "data-op": i, fill: colourOfCause("waiting for memory"), onclick: () => select(i) }), "svg:title", {}, `${i} ${o ? o.type : ""}: ${bytes(size)}`);
    x += w;
  });
  el(g, "svg:text", { x: L, y: H - 6 }, "0 us"); el(g, "svg:text", { x: W - 4, y: H - 6, "text-anchor": "end" }, all > 0 ? `${fixed(all, 1)} us of operations` : "by operation");
}

function memory() {
  const s = section("memory"), body = table(s, ["run", { name: "device", text: true }, "read (bytes)", "written (bytes)", "bursts", "row hits", "wait (ns)", "system cache hits", "system cache misses", "written back"]);
  for (const r of runs) for (const d of r.run.devices || []) {
    const m = d.memory; if (!m) continue;
    const row = el(body, "tr"), c = m.system_cache || {};
    el(row, "th", { scope: "row" }, r.name); el(row, "td", { class: "text" }, d.device);
    for (const v of [m.read_bytes, m.write_bytes, m.bursts, m.row_hits]) number(row, v, 0);
    number(row, m.wait_ns, 1); for (const v of [c.hits, c.misses, c.write_backs]) number(row, v, 0);
  }
  traffic(s);
  occupancy(s);
}

// counterNames are clearer than those of the runtime's counters, which hold while an operation runs.
const counterNames = { "power (W)": "power by operation (W)", "clock (MHz)": "clock by operation (MHz)" };

// levels are what a device counted of each level of its memory: bytes, accesses, misses.
function levels(counters) {
  const of = new Map();
  for (const [k, v] of Object.entries(counters)) {
    const m = /^(.+?)_(read_bytes|write_bytes|bytes|read|read_miss|write|write_miss|fill|write_back)$/.exec(k) || (k === "vtcm" ? [k, k, "read"] : undefined);
    if (!m || m[1] === "dma" || m[1] === "weight") continue;
    if (!of.has(m[1])) of.set(m[1], {});
    of.get(m[1])[m[2]] = v;
  }
  return of;
}

function traffic(s) {
  const counts = ["read_bytes", "write_bytes", "bytes", "read", "read_miss", "write", "write_miss", "fill", "write_back"], list = [];
  for (const r of runs) for (const d of r.run.devices || []) for (const [name, l] of levels(d.counters || {})) if (Object.values(l).some(v => v > 0)) list.push([r.name, d.device, name, l]);
  if (!list.length) return;
  el(s, "h3", {}, "Traffic of each level");
  const body = table(s, ["run", { name: "device", text: true }, { name: "level", text: true }, "read (bytes)", "written (bytes)", "both (bytes)", "reads", "read misses", "writes", "write misses", "fills", "written back"], "levels");
  for (const [run, device, name, l] of list) {
    const row = el(body, "tr");
    el(row, "th", { scope: "row" }, run); el(row, "td", { class: "text" }, device);
    el(row, "td", { class: "text whole" }, name === "dram" ? "system cache and DRAM" : name);
    for (const k of counts) number(row, l[k], 0);
  }
}

function phone() {
  const s = section("phone"), r = runs[state.run], t = data.timelines && data.timelines[r.source];
  const list = t ? t.counters.filter(c => (c.process === r.run.device || c.process.startsWith(r.run.device + ":")) && c.samples.length > 0) : [];
  s.hidden = !list.length;
  if (!list.length) return; // of a file of a run
  const flat = c => c.samples.every(p => Math.abs(p[1] - c.samples[0][1]) <= 1e-3 * Math.abs(c.samples[0][1])), moving = list.filter(c => !flat(c)), still = list.filter(flat);
  const W = room(), left = narrow() ? 0 : 300, H = 46, head = left ? 0 : 34, times = list.flatMap(c => c.samples.map(p => p[0])), x0 = times.reduce((a, b) => Math.min(a, b)), x1 = times.reduce((a, b) => Math.max(a, b)), D = W - left - 4;
  if (moving.length) {
    const axis = svg(s, W, 22, "time"), unit = x1 - x0 < 3000 ? ["us", 1] : ["ms", 1e-3];
    xAxis(axis, left, D, 0, 4, x0 * unit[1], x1 * unit[1], unit[0]);
  }
  for (const c of moving) {
    const ys = c.samples.map(p => p[1]), y0 = Math.min(...ys), y1 = Math.max(...ys), g = svg(s, W, H + head + 8, c.name);
    for (const v of ticks(x0, x1, Math.max(2, Math.min(8, Math.floor(D / 90))))) { const x = left + (v - x0) / (x1 - x0) * D; el(g, "svg:line", { class: "grid", x1: x, x2: x, y1: head, y2: head + H }); }
    let d = "";
    c.samples.forEach(([x, y], i) => { const px = left + (x - x0) / (x1 - x0 || 1) * D, py = head + H - (y - y0) / (y1 - y0) * (H - 6) - 1; d += i ? `H${px}V${py}` : `M${px} ${py}`; });
    d += `H${left + D}`; // until the end
    el(g, "svg:text", { x: 0, y: 14 }, counterNames[c.name] || c.name); el(g, "svg:text", { x: 0, y: 29, class: "dim" }, `${plain(y0)} to ${plain(y1)}`); el(g, "svg:path", { class: "axis", d });
  }
  if (still.length) {
    el(s, "h3", {}, "Constant in this run");
    const dl = el(s, "p", { class: "facts" });
    for (const c of still) { const e = el(dl, "span", {}, `${counterNames[c.name] || c.name} `); el(e, "b", { "data-value": c.samples[0][1] }, plain(c.samples[0][1])); }
  }
}

function placement() {
  const s = section("placement"), run = runs[state.run].run, count = new Map();
  for (const o of run.operations) if (o.index >= 0) count.set(o.device, (count.get(o.device) || 0) + 1);
  el(s, "p", {}, [...count].map(([d, n]) => `${n} operations on ${d}`).join(", ") || "none");
  if (run.predicted_latency_us) {
    const p = note(s, "Each operation stands where the plan of the least predicted latency has it: predicted us ");
    el(p, "span", { "data-value": run.predicted_latency_us }, fixed(run.predicted_latency_us, 1)); p.append(`, simulated us ${fixed(run.latency_us, 1)}; plans of other strategies: nnsoc partition.`);
  }
  const host = run.operations.filter(o => o.outside_nnapi);
  if (host.length) note(s, `Outside NNAPI, on the host: ${host.map(o => `${o.index} ${o.type}${/unpriced/.test(o.outside_nnapi) ? " (unpriced: its launch and memory traffic alone)" : ""}`).join(", ")}.`);
  if (!(run.fallbacks || []).length) { note(s, "The device takes all operations that were left to it."); return; }
  const body = table(s, ["#", { name: "operation", text: true }, { name: "why it is on the CPU", text: true }]);
  for (const f of run.fallbacks) { const row = el(body, "tr", { "data-op": f.index, tabindex: 0, onclick: () => select(f.index), onkeydown: e => { if (e.key === "Enter") select(f.index); } }); el(row, "td", {}, f.index); el(row, "td", { class: "text" }, f.type); el(row, "td", { class: "text" }, f.reason); }
}

function reference() {
  const s = section("reference"), body = table(s, ["run", { name: "output", text: true }, "elements", "mismatches", "largest difference", { name: "first", text: true }]);
  for (const r of runs) for (const o of r.run.outputs || []) {
    const row = el(body, "tr"); el(row, "th", { scope: "row" }, r.name); el(row, "td", { class: "text" }, `${o.name} [${(o.shape || []).join(" ")}]`);
    number(row, o.elements, 0); number(row, o.mismatches, 0); el(row, "td", {}, o.max_abs_diff); el(row, "td", { class: "text" }, o.first_mismatch || "");
  }
}

