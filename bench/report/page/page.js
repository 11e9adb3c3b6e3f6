// The views of a report. All figures are those of the data in the page; nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
const state = { run: 0, op: -1, sort: "index", down: false, filter: "", colour: "time", from: 0, to: 1 };
const runs = [];
data.files.forEach((file, f) => file.runs.forEach(run => runs.push({ file, run, name: `${data.names[f]}: ${run.device}`, source: f })));
const timed = runs.filter(r => r.run.latency_us !== undefined);

function summary() {
  const s = section("summary");
  const body = table(s, ["run", "latency us", "first us", "compile us", "energy uJ", "engine cycles", "MHz", "speed", "mismatches", "on the CPU", { name: "status", text: true }], "devices");
  const first = timed.length ? timed[0].run.latency_us : 0;
  runs.forEach(r => {
    const row = el(body, "tr"), d = (r.run.devices || []).length === 1 ? r.run.devices[0] : undefined;
    el(row, "th", { scope: "row" }, r.name);
    const cold = r.run.first_use || {};
    for (const v of [r.run.latency_us, cold.first_us, cold.compile_us, r.run.energy_uj]) number(row, v, 1);
    number(row, r.run.engine_cycles, 0); number(row, d && d.clock_mhz, 0);
    el(row, "td", {}, r.run.latency_us > 0 ? (first / r.run.latency_us).toFixed(2) + "x" : "-");
    number(row, sum((r.run.outputs || []).map(o => o.mismatches)), 0); number(row, r.run.fallback_operations, 0); el(row, "td", { class: "text" }, r.run.status);
  });
  el(s, "p", { class: "note" }, "Latency: of later results, the caches warm. First: of a phone that has been idle, after compiling.");
  const most = Math.max(...timed.map(r => r.run.latency_us), 0), all = new Set();
  const g = svg(s, 1000, timed.length * 26 + 6, "parts of the latency");
  timed.forEach((r, i) => {
    const parts = Object.entries(r.run.latency_parts_us || {}).filter(p => p[1] > 0).sort((a, b) => b[1] - a[1]);
    parts.forEach(p => all.add(p[0]));
    el(g, "svg:text", { x: 0, y: i * 26 + 17 }, r.name);
    const bar = el(g, "svg:g", { transform: "translate(260,0)" });
    stacked(bar, i * 26 + 4, 18, 730, parts, most, "us");
  });
  legend(s, all);
}

const select = op => { state.op = op; mark(); };
function mark() {
  const r = runs[state.run], o = r && r.run.operations.find(o => o.index === state.op && state.op >= 0);
  document.getElementById("selection").textContent = o ? `${o.index} ${o.type}${o.node || o.tensor ? ` ${o.node || o.tensor}` : ""} on ${o.device}: ${fixed(o.time_us, 1)} us, ${fixed(o.energy_uj, 1)} uJ, bound by ${o.bound_by}` : "";
  for (const e of document.querySelectorAll("[data-op]")) e.classList.toggle("selected", state.op >= 0 && Number(e.dataset.op) === state.op);
  const row = document.querySelector("#operations tr.selected");
  if (row && !row.parentElement.contains(document.activeElement)) row.parentElement.parentElement.parentElement.scrollTop = row.offsetTop - 120;
}

function timeline() {
  const s = section("timeline"), r = runs[state.run], t = data.timelines && data.timelines[r.source];
  const processes = t ? t.processes.filter(p => p.name === r.run.device || p.name.startsWith(r.run.device + ": ")) : [];
  const tracks = processes.flatMap(p => p.tracks.map(k => ({ name: `${p.name} / ${k.name}`, spans: k.spans })));
  if (!tracks.length) { el(s, "p", { class: "note" }, "Not in this data: reports of networks have it, those of JSON files do not."); return; }
  let lo = Infinity, hi = 0;
  for (const k of tracks) for (const x of k.spans) { lo = Math.min(lo, x[0]); hi = Math.max(hi, x[1]); }
  const span = hi - lo || 1, H = 20, W = 1060, left = 210;
  const c = el(s, "p", { class: "controls" }), box = el(s, "div", { class: "scroll", tabindex: 0, "aria-label": "timeline: + and - zoom, arrows move" });
  const draw = () => {
    box.replaceChildren();
    const g = svg(box, W + left, tracks.length * H + 26, "timeline"), a = lo + span * state.from, b = lo + span * state.to, scale = W / (b - a);
    for (let i = 0; i <= 5; i++) { const x = left + W * i / 5; el(g, "svg:line", { class: "grid", x1: x, x2: x, y1: 0, y2: tracks.length * H }); el(g, "svg:text", { x: Math.min(x, left + W - 60), y: tracks.length * H + 16 }, fixed(a + (b - a) * i / 5, 1) + " us"); }
    tracks.forEach((k, i) => {
      el(g, "svg:text", { x: 2, y: i * H + 14 }, k.name.length > 34 ? k.name.slice(0, 33) + "…" : k.name);
      let drawn = -1;
      for (const [x0, x1, op, name] of k.spans) {
        if (x1 < a || x0 > b) continue;
        const x = Math.max(0, (x0 - a) * scale), w = Math.min(W, (x1 - a) * scale) - x;
        if (x + w < drawn + 0.5) continue; // hidden below the one before
        drawn = x + w;
        const e = el(g, "svg:rect", { x: left + x, y: i * H + 3, width: Math.max(0.7, w), height: H - 5, class: "node", fill: colourOf(t.names[name].replace(/^[0-9]+ /, "")), "data-op": op, onclick: () => select(op) });
        el(e, "svg:title", {}, `${t.names[name]}: ${fixed(x0, 2)} to ${fixed(x1, 2)} us`);
      }
    });
    mark();
  };
  const zoom = (f, at = 0.5) => { const w = Math.min(1, Math.max(1e-5, (state.to - state.from) * f)), m = state.from + (state.to - state.from) * at; state.from = Math.max(0, Math.min(1 - w, m - w * at)); state.to = state.from + w; draw(); };
  const move = d => { const w = state.to - state.from; state.from = Math.max(0, Math.min(1 - w, state.from + d * w)); state.to = state.from + w; draw(); };
  for (const [n, f] of [["+", () => zoom(0.5)], ["−", () => zoom(2)], ["←", () => move(-0.25)], ["→", () => move(0.25)], ["all", () => zoom(1e9)]]) el(c, "button", { onclick: f }, n);
  if (t.dropped) el(c, "span", { class: "note" }, ` ${t.dropped} spans are left out`);
  box.addEventListener("keydown", e => { const f = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[e.key]; if (f) { f(); e.preventDefault(); } });
  box.addEventListener("wheel", e => { if (e.ctrlKey || e.shiftKey) { zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, (e.offsetX - left) / W))); e.preventDefault(); } }, { passive: false });
  draw();
}

// graph draws the network in layers: an operation stands below all that it reads, beside
// its neighbours in the order of what they read (Sugiyama's method, one sweep).
function graph() {
  const s = section("graph"), ops = runs[state.run].run.operations.filter(o => o.index >= 0 && !/ /.test(o.type)), at = new Map();
  const c = el(s, "p", { class: "controls" }, "colour ");
  for (const k of ["device", "time", "energy", "stall"]) el(c, "button", { "aria-pressed": state.colour === k, onclick: () => { state.colour = k; graph(); mark(); } }, k);
  ops.forEach(o => at.set(o.index, { o, layer: 0, place: 0 }));
  ops.forEach(o => { const n = at.get(o.index); for (const f of o.from || []) if (at.has(f)) n.layer = Math.max(n.layer, at.get(f).layer + 1); });
  const layers = [];
  for (const n of at.values()) (layers[n.layer] = layers[n.layer] || []).push(n);
  for (const l of layers) {
    const key = n => { const p = (n.o.from || []).filter(f => at.has(f)).map(f => at.get(f).place); return p.length ? sum(p) / p.length : 0; };
    l.sort((a, b) => key(a) - key(b) || a.o.index - b.o.index).forEach((n, i) => n.place = i - (l.length - 1) / 2);
  }
  const W = 176, H = 46, wide = Math.max(1, ...layers.map(l => l.length)), width = Math.max(600, wide * W + 20);
  const box = el(s, "div", { class: "scroll", tabindex: 0, "aria-label": "network: arrows select the next operation" });
  box.addEventListener("keydown", e => {
    const d = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key], next = d && ops[ops.findIndex(o => o.index === state.op) + d];
    if (next) { select(next.index); box.querySelector(".selected").scrollIntoView({ block: "nearest" }); e.preventDefault(); }
  });
  const g = svg(box, width, layers.length * H + 10, "network");
  const x = n => width / 2 + n.place * W - 80, y = n => n.layer * H + 6;
  for (const n of at.values()) for (const f of n.o.from || []) if (at.has(f)) { const p = at.get(f); el(g, "svg:path", { class: "edge", d: `M${x(p) + 80} ${y(p) + 30}C${x(p) + 80} ${y(p) + 42} ${x(n) + 80} ${y(n) - 12} ${x(n) + 80} ${y(n)}` }); }
  const most = Math.max(...ops.map(o => state.colour === "energy" ? o.energy_uj || 0 : o.time_us || 0), 1e-12), seen = new Set();
  for (const n of at.values()) {
    const o = n.o, v = (state.colour === "energy" ? o.energy_uj : o.time_us) / most, by = state.colour === "device" ? o.device : o.bound_by;
    const hot = state.colour === "time" || state.colour === "energy";
    if (!hot) seen.add(by);
    const e = el(g, "svg:rect", { x: x(n), y: y(n), width: 160, height: 30, rx: 4, class: "node", "data-op": o.index, fill: hot ? heat(v) : colourOf(by), onclick: () => select(o.index) });
    el(e, "svg:title", {}, `${o.index} ${o.type} on ${o.device}: ${fixed(o.time_us, 1)} us, ${fixed(o.energy_uj, 1)} uJ, bound by ${o.bound_by}`);
    const dark = hot ? v < 0.6 : ["#0072b2", "#004c78", "#006b4e", "#8f3f00", "#555555", "#8a4f71"].includes(colourOf(by));
    el(g, "svg:text", { x: x(n) + 6, y: y(n) + 19, style: `fill:${dark ? "#fff" : "#000"};pointer-events:none` }, `${o.index} ${o.type}`.slice(0, 24));
  }
  if (seen.size) legend(s, seen); else el(s, "p", { class: "note" }, `blue: 0, yellow: ${fixed(most, 1)} ${state.colour === "energy" ? "uJ" : "us"}`);
}

const columns = [["index", "#", o => o.index, 0], ["type", "operation", o => o.type], ["device", "device", o => o.device], ["output", "output", o => ((o.output_shapes || [])[0] || []).join("x")], ["macs", "MACs", o => o.macs, 0],
  ["time_us", "us", o => o.time_us, 1], ["share", "share %", (o, r) => r.latency_us ? 100 * o.time_us / r.latency_us : undefined, 1], ["cycles", "cycles", o => o.cycles, 0], ["energy_uj", "uJ", o => o.energy_uj, 1], ["dram_bytes", "DRAM bytes", o => o.dram_bytes, 0], ["bound_by", "bound by", o => o.bound_by], ["name", "name", o => o.node || o.tensor || ""], ["place", "place", o => o.outside_nnapi || ""]];
function operations() {
  const s = section("operations"), r = runs[state.run].run;
  const c = el(s, "p", { class: "controls" }), input = el(c, "input", { type: "search", placeholder: "filter: type, name, device, stall", "aria-label": "filter operations", value: state.filter });
  const t = el(scroll(s), "table"), head = el(el(t, "thead"), "tr"), body = el(t, "tbody");
  const shown = columns.filter(([k, , f]) => k !== "name" && k !== "place" || r.operations.some(o => f(o, r)));
  for (const [k, name, , digits] of shown) { const th = el(head, "th", { scope: "col", class: digits === undefined ? "text" : undefined, "data-key": k }); el(th, "button", { onclick: () => { state.down = state.sort === k ? !state.down : digits !== undefined && k !== "index"; state.sort = k; rows(); } }, name); }
  const rows = () => {
    body.replaceChildren();
    for (const th of head.children) th.setAttribute("aria-sort", th.dataset.key === state.sort ? (state.down ? "descending" : "ascending") : "none");
    const by = columns.find(x => x[0] === state.sort)[2], want = state.filter.toLowerCase();
    const list = r.operations.filter(o => !want || `${o.index} ${o.type} ${o.device} ${o.bound_by} ${o.node || ""} ${o.tensor || ""} ${o.outside_nnapi || ""}`.toLowerCase().includes(want));
    list.sort((a, b) => { const x = by(a, r), y = by(b, r); return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1); });
    for (const o of list) {
      const row = el(body, "tr", { "data-op": o.index, tabindex: 0, onclick: () => select(o.index) });
      for (const [, , f, digits] of shown) { const v = f(o, r); if (digits === undefined) el(row, "td", { class: "text" }, v === undefined ? "-" : v); else number(row, v, digits); }
    }
    mark();
  };
  input.addEventListener("input", () => { state.filter = input.value; rows(); });
  body.addEventListener("keydown", e => { const d = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[e.key], row = e.target.closest("tr"), next = d && row && row[d]; if (next) { next.focus(); select(Number(next.dataset.op)); e.preventDefault(); } else if (e.key === "Enter" && row) select(Number(row.dataset.op)); });
  rows();
}

function roofline() {
  const s = section("roofline"), { run, file } = runs[state.run], roofs = file.roofs || {};
  el(s, "p", { class: "note" }, "Multiply-accumulates per second over multiply-accumulates per byte of DRAM; an operation without traffic stands at the right edge. Lines: what the engine and the memory can do at best.");
  for (const device of [...new Set(run.operations.map(o => o.device))]) {
    const ops = run.operations.filter(o => o.device === device && o.macs > 0 && o.time_us > 0).map(o => ({ o, x: o.dram_bytes > 0 ? o.macs / o.dram_bytes : Infinity, y: o.macs / o.time_us * 1e6 }));
    if (!ops.length) continue;
    const roof = roofs[device], ends = ops.map(p => p.x).filter(isFinite), W = 520, H = 300, L = 60, B = 30;
    const x0 = Math.log10(Math.min(...ends, roof ? roof.macs_per_s / roof.bytes_per_s / 10 : 1)) - 0.2, x1 = Math.log10(Math.max(...ends, roof ? roof.macs_per_s / roof.bytes_per_s * 10 : 10)) + 0.4;
    const y1 = Math.log10(Math.max(...ops.map(p => p.y), roof ? roof.macs_per_s : 1)) + 0.2, y0 = Math.log10(Math.min(...ops.map(p => p.y))) - 0.2;
    const X = v => L + (Math.min(x1, Math.log10(v)) - x0) / (x1 - x0) * (W - L - 10), Y = v => H - B - (Math.log10(v) - y0) / (y1 - y0) * (H - B - 10);
    const g = svg(s, W, H + 16, `roofline of ${device}`);
    el(g, "svg:text", { x: L, y: 10, style: "font-weight:600" }, device);
    for (let e = Math.ceil(x0); e <= x1; e++) { el(g, "svg:line", { class: "grid", x1: X(10 ** e), x2: X(10 ** e), y1: 10, y2: H - B }); el(g, "svg:text", { x: X(10 ** e) - 8, y: H - B + 14 }, si(10 ** e)); }
    for (let e = Math.ceil(y0); e <= y1; e++) { el(g, "svg:line", { class: "grid", x1: L, x2: W - 10, y1: Y(10 ** e), y2: Y(10 ** e) }); el(g, "svg:text", { x: 2, y: Y(10 ** e) + 4 }, si(10 ** e) + "MAC/s"); }
    el(g, "svg:text", { x: W / 2 - 40, y: H + 10 }, "MAC/byte of DRAM");
    if (roof) { const knee = roof.macs_per_s / roof.bytes_per_s, low = Math.max(10 ** x0, 10 ** y0 / roof.bytes_per_s); el(g, "svg:path", { class: "axis", "stroke-width": 2, d: `M${X(low)} ${Y(low * roof.bytes_per_s)}L${X(knee)} ${Y(roof.macs_per_s)}L${W - 10} ${Y(roof.macs_per_s)}` }); }
    for (const { o, x, y } of ops) el(el(g, "svg:circle", { cx: X(x), cy: Y(y), r: 4, class: "node point", "data-op": o.index, fill: colourOf(o.bound_by), onclick: () => select(o.index) }), "svg:title", {}, `${o.index} ${o.type}: ${si(y)}MAC/s, ${isFinite(x) ? si(x) + " MAC/byte" : "no DRAM traffic"}, bound by ${o.bound_by}`);
    legend(s, new Set(ops.map(p => p.o.bound_by)));
  }
}

function stalls() {
  const s = section("stalls"), run = runs[state.run].run, ops = run.operations.filter(o => o.cycles > 0).sort((a, b) => b.time_us - a.time_us).slice(0, 60), all = new Set(), H = 18;
  el(s, "p", { class: "note" }, "Cycles of each operation by what they were spent on, the costliest first.");
  const most = Math.max(...ops.map(o => o.time_us), 0), g = svg(scroll(s), 1220, ops.length * H + 6, "stalls");
  ops.forEach((o, i) => {
    const parts = Object.entries(o.stall_cycles || {}).sort((a, b) => b[1] - a[1]), scale = sum(parts.map(p => p[1])); parts.forEach(p => all.add(p[0]));
    el(g, "svg:text", { x: 2, y: i * H + 14 }, `${o.index < 0 ? "-" : o.index} ${o.type}`.slice(0, 34));
    el(g, "svg:rect", { x: 228, y: i * H + 2, width: 3 + 960 * o.time_us / most, height: H - 3, class: "node", fill: "none", "data-op": o.index, onclick: () => select(o.index) });
    stacked(el(g, "svg:g", { transform: "translate(230,0)" }), i * H + 3, H - 5, 960 * o.time_us / most, parts, scale, "cycles");
  });
  legend(s, all);
}

function memory() {
  const s = section("memory"), body = table(s, ["run", { name: "device", text: true }, "read bytes", "written bytes", "bursts", "row hits", "wait ns", "system cache hits", "system cache misses", "written back"]);
  for (const r of runs) for (const d of r.run.devices || []) {
    const m = d.memory; if (!m) continue;
    const row = el(body, "tr"), c = m.system_cache || {};
    el(row, "th", { scope: "row" }, r.name); el(row, "td", { class: "text" }, d.device);
    for (const v of [m.read_bytes, m.write_bytes, m.bursts, m.row_hits]) number(row, v, 0);
    number(row, m.wait_ns, 1); for (const v of [c.hits, c.misses, c.write_backs]) number(row, v, 0);
  }
  traffic(s);
}

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
  const body = table(s, ["run", { name: "device", text: true }, { name: "level", text: true }, "bytes read", "bytes written", "bytes", "reads", "read misses", "writes", "write misses", "fills", "written back"], "levels");
  for (const [run, device, name, l] of list) {
    const row = el(body, "tr");
    el(row, "th", { scope: "row" }, run); el(row, "td", { class: "text" }, device);
    el(row, "td", { class: "text" }, name === "dram" ? "system cache and DRAM" : name);
    for (const k of counts) number(row, l[k], 0);
  }
}

function phone() {
  const s = section("phone"), r = runs[state.run], t = data.timelines && data.timelines[r.source];
  const list = t ? t.counters.filter(c => c.process.startsWith(r.run.device) && c.samples.length > 1) : [];
  if (!list.length) { el(s, "p", { class: "note" }, "Not in this data: reports of networks have it, those of JSON files do not."); return; }
  const W = 600, H = 60, times = list.flatMap(c => c.samples.map(p => p[0])), x0 = times.reduce((a, b) => Math.min(a, b)), x1 = times.reduce((a, b) => Math.max(a, b));
  const axis = svg(s, W + 380, 20, "time");
  for (let i = 0; i <= 4; i++) el(axis, "svg:text", { x: 300 + W * i / 4, y: 14 }, fixed(x0 + (x1 - x0) * i / 4, 1) + " us");
  for (const c of list) {
    const ys = c.samples.map(p => p[1]), y0 = Math.min(...ys), y1 = Math.max(...ys), g = svg(s, W + 380, H + 6, c.name);
    for (let i = 0; i <= 4; i++) el(g, "svg:line", { class: "grid", x1: 300 + W * i / 4, x2: 300 + W * i / 4, y1: 0, y2: H });
    let d = "";
    c.samples.forEach(([x, y], i) => { const px = 300 + (x - x0) / (x1 - x0 || 1) * W, py = H - (y - y0) / (y1 - y0 || 1) * (H - 8); d += i ? `H${px}V${py}` : `M${px} ${py}`; });
    d += `H${300 + W}`; // until the end
    el(g, "svg:text", { x: 0, y: 20 }, c.name); el(g, "svg:text", { x: 0, y: 36 }, y0 === y1 ? fixed(y0, 2) : `${fixed(y0, 2)} to ${fixed(y1, 2)}`); el(g, "svg:path", { class: "axis", d });
  }
}

function placement() {
  const s = section("placement"), run = runs[state.run].run, count = new Map();
  for (const o of run.operations) if (o.index >= 0) count.set(o.device, (count.get(o.device) || 0) + 1);
  el(s, "p", {}, [...count].map(([d, n]) => `${n} operations on ${d}`).join(", ") || "none");
  if (run.predicted_latency_us) {
    const p = el(s, "p", { class: "note" }, "Each operation stands where the plan of the least predicted latency has it: predicted us ");
    el(p, "span", { "data-value": run.predicted_latency_us }, fixed(run.predicted_latency_us, 1)); p.append(`, simulated us ${fixed(run.latency_us, 1)}; plans of other strategies: nnsoc partition.`);
  }
  const host = run.operations.filter(o => o.outside_nnapi);
  if (host.length) el(s, "p", { class: "note" }, `Outside NNAPI, on the host: ${host.map(o => `${o.index} ${o.type}${/unpriced/.test(o.outside_nnapi) ? " (unpriced: its launch and memory traffic alone)" : ""}`).join(", ")}.`);
  if (!(run.fallbacks || []).length) { el(s, "p", { class: "note" }, "The device takes all operations that were left to it."); return; }
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

function changes() {
  const d = data.diff; if (!d) return;
  const s = section("changes"); s.hidden = false;
  const head = table(s, ["device", "latency us", "before", "change %", "energy uJ", "before", "change %"], "changed");
  const percent = c => c.after === c.before ? 0 : 100 * (c.after - c.before) / Math.abs(c.before);
  for (const r of d.runs) { const row = el(head, "tr"); el(row, "th", { scope: "row" }, r.device); for (const c of [r.latency_us, r.energy_uj]) { number(row, c.after, 1); number(row, c.before, 1); number(row, percent(c), 2); } }
  for (const r of d.runs) {
    el(s, "p", {}, `${r.device}: operations that changed: ${r.operations.length}, that did not: ${r.same_operations}`);
    const body = table(scroll(s), ["#", { name: "operation", text: true }, "us", "before", "change us", "change uJ", "DRAM bytes", { name: "because", text: true }]);
    for (const o of r.operations) {
      const row = el(body, "tr"), delta = c => c.after - c.before; el(row, "td", {}, o.index < 0 ? "-" : o.index); el(row, "td", { class: "text" }, o.type);
      number(row, o.time_us.after, 1); number(row, o.time_us.before, 1); number(row, delta(o.time_us), 1); number(row, delta(o.energy_uj), 1); number(row, delta(o.dram_bytes), 0);
      const where = o.device_change[0] === o.device_change[1] ? "" : `${o.device_change[0] || "new"} → ${o.device_change[1] || "gone"} `;
      el(row, "td", { class: "text" }, where + (o.stall_changes || []).slice(0, 3).map(w => `${w.reason} ${delta(w.time_us) < 0 ? "−" : "+"}${Math.abs(delta(w.time_us)).toFixed(1)} us`)
        .concat((o.counter_changes || []).slice(0, 2).map(c => `${c.name} ${c.count.before} → ${c.count.after}`)).join(", "));
    }
  }
}

const perRun = () => { timeline(); graph(); operations(); roofline(); stalls(); phone(); placement(); mark(); };
const choice = document.getElementById("run");
runs.forEach((r, i) => el(choice, "option", { value: i }, r.name));
choice.addEventListener("change", () => { state.run = Number(choice.value); state.op = -1; state.from = 0; state.to = 1; perRun(); });
document.getElementById("about").textContent = data.files.map((f, i) => `${data.names[i]}: ${f.model}, ${f.operation_count} operations, ${si(f.macs)} MACs, on ${f.soc}`).join("; ");
const best = timed.reduce((a, r) => !a || r.run.latency_us < a.run.latency_us ? r : a, undefined);
if (best) { state.run = runs.indexOf(best); choice.value = state.run; }
changes(); summary(); memory(); reference();
if (runs.length) perRun();
document.documentElement.dataset.drawn = "yes";
