// The network as a graph, placed when the page was written, and all about the operation that is selected.
const BOX = { width: 236, height: 34, layer: 54 }; // of an operation; the places are those of boxes of this width

// edgeShapes are the shapes of the outputs of an operation that another reads.
const edgeShapes = (from, to) => (from.output_shapes || []).filter(d => d && (to.input_shapes || []).some(i => i && i.join() === d.join())).map(d => d.join("×")).join(", ") || "shape known when it runs";
// drawn are the operations that the graph has.
const drawn = r => r.run.operations.filter(o => o.index >= 0 && !/ /.test(o.type));
const placesOf = r => (data.layouts[r.source] || [])[r.at] || { boxes: {}, edges: [], width: 0, layers: 0 };

function graph() {
  const s = section("graph"), r = runs[state.run], ops = drawn(r), places = placesOf(r);
  const c = el(s, "p", { class: "controls" }, "colour ");
  for (const k of ["device", "time", "energy", "stall"].concat(diffOf(r) ? "change" : [])) el(c, "button", { "aria-pressed": state.colour === k, onclick: () => { state.colour = k; graph(); mark(); } }, k);
  c.append(" size ");
  const both = el(s, "div", { class: "beside" }), box = el(both, "div", { class: "scroll network", tabindex: 0, "aria-label": "network: arrows select the next operation, + and - zoom, dragging moves" });
  el(both, "div", { id: "chosen" });
  const resize = z => { const m = (box.scrollLeft + box.clientWidth / 2) / state.zoom; state.zoom = Math.min(4, Math.max(0.1, z)); graph(); mark(); const b = document.querySelector("#graph .network"); b.scrollLeft = m * state.zoom - b.clientWidth / 2; };
  const fit = () => Math.min(1, (box.clientWidth - 4) / (places.width + 20));
  for (const [n, f] of [["larger", () => resize(state.zoom * 1.25)], ["smaller", () => resize(state.zoom * 0.8)], ["fit", () => resize(fit())]]) el(c, "button", { onclick: f }, n);
  box.addEventListener("keydown", e => {
    const d = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key], next = d && ops[ops.findIndex(o => o.index === state.op) + d], z = { "+": 1.25, "=": 1.25, "-": 0.8 }[e.key];
    if (next) { select(next.index); toSelected(); e.preventDefault(); } else if (z) resize(state.zoom * z);
  });
  box.addEventListener("wheel", e => { if (e.ctrlKey || e.shiftKey) { resize(state.zoom * (e.deltaY > 0 ? 0.8 : 1.25)); e.preventDefault(); } }, { passive: false });
  box.addEventListener("pointermove", e => { if (e.buttons & 1 && e.pointerType === "mouse") { box.scrollLeft -= e.movementX; box.scrollTop -= e.movementY; } });
  const width = paper ? places.width + 20 : Math.max((box.clientWidth - 4) / state.zoom, places.width + 20), height = places.layers * BOX.layer + 10, left = (width - places.width) / 2;
  const g = svg(box, width, height, "network");
  if (!paper) { g.setAttribute("width", width * state.zoom); g.setAttribute("height", height * state.zoom); }
  const of = new Map(ops.map(o => [o.index, o])), top = layer => layer * BOX.layer + 6;
  for (const e of places.edges) {
    let [x, y] = [left + e.at[0][0], top(e.at[0][1]) + BOX.height], d = `M${x} ${y}`;
    for (const [to, layer] of e.at.slice(1)) { const below = top(layer), m = (y + below) / 2; d += `C${x} ${m} ${left + to} ${m} ${left + to} ${below}`; [x, y] = [left + to, below]; }
    const a = of.get(e.from), b = of.get(e.to);
    el(el(g, "svg:path", { class: "edge", d, "data-tall": `${top(e.at[0][1])} ${y}` }), "svg:title", {}, `${a.index} ${a.type} to ${b.index} ${b.type}: ${edgeShapes(a, b)}`);
  }
  const { fill, explain } = fillOf(r, ops), shapes = list => (list || []).map(d => d ? `[${d.join(" ")}]` : "?").join(" ");
  for (const o of ops) {
    const at = places.boxes[o.index]; if (!at) continue;
    const x = left + at[0] - BOX.width / 2, y = top(at[1]), colour = fill(o), node = el(g, "svg:g", { "data-of": o.index, "data-tall": `${y} ${y + BOX.height}` });
    el(el(node, "svg:rect", { x, y, width: BOX.width, height: BOX.height, rx: 4, class: "node", "data-op": o.index, fill: colour, onclick: () => select(o.index) }), "svg:title", {},
      `${o.index} ${o.type}${nameOf(o) ? " " + nameOf(o) : ""} on ${o.device}: ${fixed(o.time_us, 1)} us, ${fixed(o.energy_uj, 1)} uJ, bound by ${o.bound_by}; ${shapes(o.input_shapes)} to ${shapes(o.output_shapes)}`);
    const style = `fill:${light(colour) ? "#000" : "#fff"};pointer-events:none`;
    el(node, "svg:text", { x: x + 6, y: y + 14, style }, clip(`${o.index} ${o.type}`, BOX.width - 70));
    el(node, "svg:text", { x: x + BOX.width - 6, y: y + 14, style, "text-anchor": "end" }, fixed(o.time_us, 1) + " us");
    el(node, "svg:text", { x: x + 6, y: y + 28, style }, clip(`${((o.output_shapes || [])[0] || []).join("×")} ${nameOf(o)}`, BOX.width - 12));
  }
  if (paper) sheets(box, g, width, height);
  explain(s);
  const first = ops.length && places.boxes[ops[0].index];
  if (first) box.scrollLeft = (left + first[0]) * state.zoom - box.clientWidth / 2;
  fade();
}

// sheets cuts a network that is taller than a sheet into pieces, beside and below each other, in place of shrinking it.
function sheets(box, g, width, height) {
  const TALL = 780, GAP = 8, columns = Math.max(1, Math.floor(PAPER / (width * 0.85))), scale = Math.min(1, (PAPER - GAP * (columns - 1)) / columns / width), layers = Math.floor(TALL / (BOX.layer * scale)) * BOX.layer;
  if (height * scale <= TALL) return;
  const pieces = el(box, "div", { class: "sheets" });
  for (let y = 0; y < height; y += layers) {
    const h = Math.min(layers, height - y), piece = svg(pieces, width * scale, h * scale, "network");
    piece.setAttribute("viewBox", `0 ${y} ${width} ${h}`);
    for (const e of g.children) { const [from, to] = e.dataset.tall.split(" "); if (from < y + h && to > y) piece.append(e.cloneNode(true)); }
  }
  g.remove();
}

// fillOf gives each operation its colour by what the reader has chosen, and says what the colours mean.
function fillOf(r, ops) {
  const by = state.colour, most = key => Math.max(...ops.map(o => o[key] || 0), 1e-12), seen = new Set();
  if (by === "change") {
    const top = Math.max(0, ...r.run.operations.map(o => Math.abs(changeOf(o, r) || 0)));
    return { fill: o => changeColour(changeOf(o, r) || 0, top), explain: s => note(s, `green: faster, red: slower than before, by up to ${fixed(top, 1)} us`) };
  }
  if (by === "time" || by === "energy") {
    const key = by === "energy" ? "energy_uj" : "time_us", top = most(key);
    return { fill: o => heat((o[key] || 0) / top), explain: s => note(s, `blue: 0, yellow: ${fixed(top, 1)} ${by === "energy" ? "uJ" : "us"}`) };
  }
  const ofDevice = name => data.device_colours[name];
  if (by === "device") return { fill: o => { seen.add(o.device); return ofDevice(o.device); }, explain: s => legend(s, seen, ofDevice) };
  return { fill: o => { seen.add(causeOf("stall reason", o.bound_by)); return reasonColour(o.bound_by); }, explain: s => legendOf(s, seen) };
}

const toSelected = () => { const node = document.querySelector("#graph .selected"); if (node) node.scrollIntoView({ block: "nearest", inline: "nearest" }); };

// found are the operations that the search finds: by index, type, name or the shape of their result.
const found = () => { const want = (state.search || "").trim().toLowerCase(), r = runs[state.run]; return !want || !r ? undefined : drawn(r).filter(o => `${o.index} ${o.type} ${nameOf(o)} ${((o.output_shapes || [])[0] || []).join("×")} ${((o.output_shapes || [])[0] || []).join("x")}`.toLowerCase().includes(want)); };
// fade makes pale in the graph what the search does not find.
function fade() {
  const list = found(), keep = new Set((list || []).map(o => o.index));
  for (const e of document.querySelectorAll("#graph [data-of]")) e.classList.toggle("faded", Boolean(list) && !keep.has(Number(e.dataset.of)));
  document.getElementById("found").textContent = list ? `${list.length} found${list.length ? ", Enter: next" : ""}` : "";
}

// describe says what the selected operation costs, has its arguments by name with shapes and values, and leads to what it reads and who reads it.
function describe(o, r) {
  const box = document.getElementById("chosen"); if (!box) return;
  box.replaceChildren();
  if (!o) { note(box, "Select an operation for its arguments: by a click, the arrow keys or the search above."); return; }
  el(box, "h3", {}, `${o.index} ${o.type}`);
  if (nameOf(o)) note(box, nameOf(o));
  const facts = el(box, "p", { class: "facts" }), fact = (name, text) => { el(el(facts, "span", {}, name + " "), "b", {}, text); };
  fact("device", o.device); fact("time", spell(o.time_us || 0)); if (share(o, r.run)) fact("share", fixed(share(o, r.run), 1) + " %"); fact("energy", energy(o.energy_uj || 0)); fact("bound by", o.bound_by || "-");
  const goTo = (cell, i) => el(cell, "button", { onclick: () => { select(i); toSelected(); } }, "#" + i);
  const body = table(box, [{ name: "argument", text: true }, { name: "shape or value", text: true }, { name: "of", text: true }], "arguments");
  (o.input_shapes || []).forEach((d, k) => {
    const a = (o.arguments || [])[k] || { name: `input ${k}` }, row = el(body, "tr");
    el(row, "td", { class: "text" }, a.name.replaceAll("_", " ")); el(row, "td", { class: "text" }, a.scalar || (d ? d.join("×") || "-" : "known when it runs"));
    const of = el(row, "td", { class: "text" }); if (a.operation_index !== undefined) goTo(of, a.operation_index);
  });
  (o.output_shapes || []).forEach((d, k) => {
    const row = el(body, "tr"); el(row, "td", { class: "text" }, (o.output_shapes.length > 1 ? `output ${k}` : "output")); el(row, "td", { class: "text" }, d ? d.join("×") || "-" : "known when it runs");
    const to = el(row, "td", { class: "text" }, k ? "" : "to "); if (!k) drawn(r).filter(x => (x.from || []).includes(o.index)).forEach(x => goTo(to, x.index));
  });
}

