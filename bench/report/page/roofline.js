// The roofline of each device: what its operations reach, below what the engine and each level of its memory can do at best.
const levelName = name => ({ dram: "DRAM", system_cache: "system cache" }[name] || name.toUpperCase());
// levelsOf are the levels of a roof, the nearest first; files of before they were written have DRAM alone.
const levelsOf = roof => !roof ? [] : roof.levels || [{ name: "dram", bytes_per_s: roof.bytes_per_s }];
// bytesAt is what an operation moves from and to a level, undefined where the engine does not count it.
function bytesAt(o, level) {
  const c = o.counters || {};
  if (level === "dram") return o.dram_bytes;
  if (c[level + "_bytes"] !== undefined) return c[level + "_bytes"];
  return c[level + "_read_bytes"] === undefined ? undefined : c[level + "_read_bytes"] + (c[level + "_write_bytes"] || 0);
}
const dashes = ["", "9 3", "2 3", "9 3 2 3", "5 5"];

function roofline() {
  const s = section("roofline"), { run, file } = runs[state.run], roofs = file.roofs || {};
  note(s, "How fast each operation multiplies over how often it uses a byte. Below a slanted line, that memory can deliver the bytes; below the flat line, the engine can multiply. Numbers: the ten operations with the most time.");
  for (const device of new Set(run.operations.map(o => o.device))) {
    const ops = run.operations.filter(o => o.device === device && o.macs > 0 && o.time_us > 0);
    if (ops.length) rooflineOf(s, device, ops, roofs[device]);
  }
  legendOf(s, new Set(run.operations.filter(o => o.macs > 0 && o.time_us > 0).map(o => causeOf("stall reason", o.bound_by))));
}

function rooflineOf(s, device, ops, roof) {
  const levels = levelsOf(roof), counted = levels.filter(l => ops.some(o => bytesAt(o, l.name) > 0)).map(l => l.name);
  const level = counted.includes(state.level) ? state.level : "dram", rate = (levels.find(l => l.name === level) || {}).bytes_per_s;
  el(s, "h3", {}, device);
  if (counted.length > 1) {
    const c = el(s, "p", { class: "controls" }, "bytes of ");
    for (const l of counted) el(c, "button", { "aria-pressed": l === level, onclick: () => { state.level = l; roofline(); mark(); } }, levelName(l));
  }
  const points = ops.map(o => ({ o, x: bytesAt(o, level) > 0 ? o.macs / bytesAt(o, level) : Infinity, y: o.macs / o.time_us * 1e6 }));
  const least = l => roof.macs_per_s / l.bytes_per_s; // MACs per byte from which the engine is the limit
  const xs = points.map(p => p.x).filter(isFinite).concat(levels.map(least)), ys = points.map(p => p.y).concat(roof ? roof.macs_per_s : []);
  const x0 = Math.log10(Math.min(...xs)) - 0.3, x1 = Math.log10(Math.max(...xs, 10 ** x0 * 100)) + 0.5, y0 = Math.log10(Math.min(...ys)) - 0.2, y1 = Math.log10(Math.max(...ys)) + 0.2;
  const box = el(s, "div", { class: "beside" }), W = Math.min(680, room()), left = el(box, "div", { style: `width:${W}px` }), H = 340, L = 84, B = 44, T = 12, R = 14;
  const X = v => L + (Math.min(x1, Math.log10(v)) - x0) / (x1 - x0) * (W - L - R), Y = v => H - B - (Math.log10(v) - y0) / (y1 - y0) * (H - B - T);
  const g = svg(left, W, H, `roofline of ${device}`);
  for (let e = Math.ceil(x0); e <= x1; e++) { el(g, "svg:line", { class: "grid", x1: X(10 ** e), x2: X(10 ** e), y1: T, y2: H - B }); el(g, "svg:text", { x: Math.min(X(10 ** e), W - R - 8), y: H - B + 15, "text-anchor": "middle" }, si(10 ** e)); }
  for (let e = Math.ceil(y0); e <= y1; e++) { el(g, "svg:line", { class: "grid", x1: L, x2: W - R, y1: Y(10 ** e), y2: Y(10 ** e) }); el(g, "svg:text", { x: L - 6, y: Y(10 ** e) + 4, "text-anchor": "end" }, si(10 ** e).replace(/[kMGT]?$/, u => " " + u) + "MAC/s"); }
  el(g, "svg:text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, `MACs per byte of ${levelName(level)}`);
  // line is the slanted part of a roof, from the lower or the left edge to where the engine is the limit.
  const line = l => { const low = Math.max(10 ** x0, 10 ** y0 / l.bytes_per_s); return `M${X(low)} ${Y(low * l.bytes_per_s)}L${X(least(l))} ${Y(roof.macs_per_s)}`; };
  const names = el(left, "p", { class: "legend" });
  levels.forEach((l, i) => {
    const now = l.name === level, dash = dashes[(levels.length - 1 - i) % dashes.length], colour = now ? "var(--ink)" : colourOfCause("waiting for memory"), text = `${levelName(l.name)} ${bytes(l.bytes_per_s)}/s`;
    el(el(g, "svg:path", { class: now ? "axis" : "level", "stroke-width": 2, "stroke-dasharray": dash || undefined, d: line(l) + (now ? `L${W - R} ${Y(roof.macs_per_s)}` : "") }), "svg:title", {}, `${text}: the limit of operations with less than ${si(least(l))} MACs per byte`);
    const sample = svg(el(names, "span"), 34, 10, ""); el(sample, "svg:line", { x1: 0, x2: 32, y1: 5, y2: 5, "stroke-width": 2, stroke: colour, "stroke-dasharray": dash || undefined }); sample.parentNode.append(text);
  });
  if (roof) el(names, "span", {}, `flat: engine ${si(roof.macs_per_s).replace(/[kMGT]?$/, u => " " + u)}MAC/s`);
  const top = [...points].sort((a, b) => b.o.time_us - a.o.time_us).slice(0, 10), placed = points.map(p => ({ x: X(p.x) - 4, y: Y(p.y) + 4, w: 8 }));
  for (const { o, x, y } of points) {
    const per = counted.map(l => `${levelName(l)} ${bytesAt(o, l) > 0 ? si(o.macs / bytesAt(o, l)) : "no traffic"}`).join(", ");
    el(el(g, "svg:circle", { cx: X(x), cy: Y(y), r: 4, class: "node point", "data-op": o.index, fill: reasonColour(o.bound_by), onclick: () => select(o.index) }), "svg:title", {}, `${o.index} ${o.type} ${nameOf(o)}: ${si(y)}MAC/s${roof ? `, ${fixed(100 * y / roof.macs_per_s, 1)} % of the engine` : ""}; MACs per byte: ${per}; bound by ${o.bound_by}`);
  }
  for (const { o, x, y } of top) { // beside its point, at the first place that is free
    const text = String(o.index), w = text.length * 7 + 2;
    for (const [dx, dy] of [[6, 4], [-w - 4, 4], [6, -7], [-w - 4, -7], [6, 16], [-w - 4, 16], [-w / 2, -9], [-w / 2, 19], [14, 4], [-w - 12, 4], [10, -18], [10, 27]]) {
      const q = { x: X(x) + dx, y: Y(y) + dy };
      if (q.x < L || q.x + w > W || q.y < T + 8 || q.y > H - B || placed.some(p => q.x < p.x + p.w && p.x < q.x + w && Math.abs(p.y - q.y) < 11)) continue;
      placed.push({ ...q, w }); el(g, "svg:text", q, text); break;
    }
  }
  const body = table(el(box, "div"), ["#", { name: "operation", text: true }, "time (us)", "of the engine (%)", "of the roof (%)"]);
  for (const { o, x, y } of top) {
    const row = el(body, "tr", selects(o.index)), limit = roof && Math.min(roof.macs_per_s, x * rate);
    el(row, "td", {}, o.index); el(row, "td", { class: "text", title: nameOf(o) || undefined }, o.type); number(row, o.time_us, 1);
    number(row, roof && 100 * y / roof.macs_per_s, 1); number(row, limit && 100 * y / limit, 1);
  }
}

