// The views of schedule. All figures are those of the data in the page; nothing is fetched.
const state = { scenario: 0, strategy: 0, from: 0, to: 1 };
const chosen = () => data.scenarios[state.scenario];
const plan = () => chosen().strategies[state.strategy];
const late = j => j.deadline_ms > 0 && j.end_ms > j.deadline_ms;
const WIDTH = 1100, LEFT = 130, RIGHT = 20;
const span = s => Math.max(s.duration_ms, ...s.strategies.map(x => x.jobs.reduce((a, j) => Math.max(a, j.end_ms), 0)));

// axis draws a scale of values from lo to hi below a view and returns the place of a value.
function axis(g, y, lo, hi, unit) {
  const at = v => LEFT + (WIDTH - LEFT - RIGHT) * (hi > lo ? (v - lo) / (hi - lo) : 0);
  for (let k = 0; k <= 8; k++) {
    const v = lo + (hi - lo) * k / 8, x = at(v);
    el(g, "svg:line", { x1: x, x2: x, y1: 0, y2: y, class: "grid" });
    el(g, "svg:text", { x: k === 8 ? x + RIGHT : x, y: y + 14, "text-anchor": k === 8 ? "end" : "middle" }, +v.toPrecision(4) + (k === 8 ? " " + unit : ""));
  }
  return at;
}

function summary() {
  const s = section("summary"), body = table(s, ["strategy", "missed", "jobs", "mean ms", "energy uJ"], "strategies");
  chosen().strategies.forEach((x, i) => {
    const row = el(body, "tr", { class: i === state.strategy ? "selected" : undefined });
    el(el(row, "th", { scope: "row" }), "button", { onclick: () => { state.strategy = i; draw(); } }, x.name);
    number(row, x.missed, 0); number(row, x.jobs.length, 0); number(row, x.mean_ms, 3); number(row, x.energy_uj, 1);
  });
}

// pareto has a point per strategy; those that no other beats in both are joined by a line.
function pareto() {
  const s = section("pareto"), list = chosen().strategies, H = 260;
  const g = svg(s, WIDTH, H + 34, "energy and missed deadlines of each strategy");
  const most = Math.max(1, ...list.map(x => x.missed)), top = Math.max(...list.map(x => x.energy_uj)) * 1.05 || 1;
  const at = axis(g, H, 0, top, "uJ"), y = m => H - 10 - (H - 30) * m / most;
  el(g, "svg:text", { x: 4, y: 14 }, `${most} missed`); el(g, "svg:text", { x: 4, y: H - 6 }, "0 missed");
  const front = list.filter(a => !list.some(b => b.missed <= a.missed && b.energy_uj <= a.energy_uj && (b.missed < a.missed || b.energy_uj < a.energy_uj))).sort((a, b) => a.energy_uj - b.energy_uj);
  if (front.length) el(g, "svg:path", { class: "axis", d: "M" + front.map(x => `${at(x.energy_uj)} ${y(x.missed)}`).join("L") });
  list.forEach((x, i) => {
    const c = el(g, "svg:circle", { cx: at(x.energy_uj), cy: y(x.missed), r: 6, fill: colourOf(x.name), tabindex: 0, class: i === state.strategy ? "selected" : "node", onclick: () => { state.strategy = i; draw(); } });
    el(c, "svg:title", {}, `${x.name}: ${x.missed} missed, ${fixed(x.energy_uj, 1)} uJ, mean ${fixed(x.mean_ms, 3)} ms`);
  });
  legend(s, list.map(x => x.name));
}

// timeline has a lane per engine with its work, and a lane per network with its jobs from arrival to result and their deadlines.
function timeline() {
  const s = section("timeline"), c = chosen(), p = plan(), all = span(c), lo = all * state.from, hi = all * state.to, ROW = 26;
  const lanes = c.engines.length + c.networks.length, H = lanes * ROW + 8;
  const controls = el(s, "p", { class: "controls" });
  const zoom = (k, m) => () => { const w = Math.min(1, (state.to - state.from) * k), mid = (state.from + state.to) / 2 + m * (state.to - state.from); state.from = Math.max(0, Math.min(1 - w, mid - w / 2)); state.to = state.from + w; timeline(); };
  for (const [name, k, m] of [["closer", 0.5, 0], ["wider", 2, 0], ["earlier", 1, -0.5], ["later", 1, 0.5]]) el(controls, "button", { onclick: zoom(k, m) }, name);
  const g = svg(s, WIDTH, H + 24, `timeline of ${p.name}`), at = axis(g, H, lo, hi, "ms");
  const bar = (y, h, a, b, fill, title, extra) => { if (b < lo || a > hi) return; const x = at(Math.max(a, lo)); el(el(g, "svg:rect", { x, y, width: Math.max(0.6, at(Math.min(b, hi)) - x), height: h, fill, ...extra }), "svg:title", {}, title); };
  c.engines.forEach((name, i) => el(g, "svg:text", { x: 4, y: i * ROW + 17 }, name));
  p.spans.forEach(x => bar(x.engine * ROW + 3, ROW - 8, x.start_ms, x.end_ms, colourOf(c.networks[x.network]), `${c.networks[x.network]} on ${c.engines[x.engine]}: ${fixed(x.start_ms, 3)} to ${fixed(x.end_ms, 3)} ms`));
  c.networks.forEach((name, i) => el(g, "svg:text", { x: 4, y: (c.engines.length + i) * ROW + 17 }, name.length > 20 ? name.slice(0, 19) + "…" : name));
  p.jobs.forEach(j => {
    const y = (c.engines.length + j.network) * ROW, bad = late(j);
    bar(y + 7, ROW - 16, j.arrival_ms, j.end_ms, colourOf(c.networks[j.network]), `arrives at ${fixed(j.arrival_ms, 3)}, result after ${fixed(j.end_ms - j.arrival_ms, 3)} ms${bad ? ", late" : ""}`, { "fill-opacity": bad ? 1 : 0.55, stroke: bad ? "var(--mark)" : "none", "stroke-width": 2 });
    if (j.deadline_ms > 0 && j.deadline_ms >= lo && j.deadline_ms <= hi) el(g, "svg:line", { x1: at(j.deadline_ms), x2: at(j.deadline_ms), y1: y + 3, y2: y + ROW - 5, stroke: bad ? "var(--mark)" : "var(--dim)", "stroke-width": bad ? 3 : 1 });
  });
  legend(s, c.networks);
  el(s, "p", { class: "note" }, "Engines above, jobs from arrival to result below. Lines are deadlines; a job that misses its own has an outline, and a thick line.");
}

// use has, per engine, the share of each of 60 spans in which it worked, and below them the time that jobs lost.
function use() {
  const s = section("use"), c = chosen(), p = plan(), all = span(c), N = 60, ROW = 54;
  const g = svg(s, WIDTH, (c.engines.length + 1) * ROW + 24, `use of the engines by ${p.name}`), at = axis(g, (c.engines.length + 1) * ROW, 0, all, "ms");
  const work = c.engines.map(() => c.networks.map(() => new Array(N).fill(0))), lost = new Array(N).fill(0), bin = all / N;
  for (const x of p.spans) for (let k = Math.floor(x.start_ms / bin); k < N && k * bin < x.end_ms; k++) work[x.engine][x.network][k] += Math.max(0, Math.min(x.end_ms, (k + 1) * bin) - Math.max(x.start_ms, k * bin)) / bin;
  for (const j of p.jobs) lost[Math.min(N - 1, Math.floor(j.arrival_ms / bin))] += Math.max(0, j.lost_ms);
  c.engines.forEach((name, e) => {
    el(g, "svg:text", { x: 4, y: e * ROW + 30 }, name);
    for (let k = 0; k < N; k++) {
      let y = (e + 1) * ROW - 4;
      c.networks.forEach((n, i) => { const h = Math.min(1, work[e][i][k]) * (ROW - 10); if (h > 0) el(el(g, "svg:rect", { x: at(k * bin), y: y - h, width: Math.max(0.5, at((k + 1) * bin) - at(k * bin) - 0.5), height: h, fill: colourOf(n) }), "svg:title", {}, `${n} on ${name}: ${fixed(100 * work[e][i][k], 1)} %`); y -= h; });
    }
  });
  const most = Math.max(...lost, 1e-9), base = (c.engines.length + 1) * ROW - 4;
  el(g, "svg:text", { x: 4, y: base - 20 }, `lost, ${fixed(most, 2)} ms`);
  lost.forEach((v, k) => { if (v > 0) el(el(g, "svg:rect", { x: at(k * bin), y: base - (ROW - 10) * v / most, width: at(bin) - at(0) - 0.5, height: (ROW - 10) * v / most, fill: "var(--mark)" }), "svg:title", {}, `${fixed(v, 3)} ms lost by jobs that arrive here`); });
  legend(s, c.networks);
}

// latency has, per network, the share of jobs that have their result within a time, a line per strategy.
function latency() {
  const s = section("latency"), c = chosen(), H = 180;
  c.networks.forEach((name, n) => {
    el(s, "h3", {}, name);
    const lists = c.strategies.map(x => x.jobs.filter(j => j.network === n).map(j => j.end_ms - j.arrival_ms).sort((a, b) => a - b));
    const most = Math.max(1e-6, ...lists.map(l => l.length ? l[l.length - 1] : 0));
    const g = svg(s, WIDTH, H + 24, `latencies of ${name}`), at = axis(g, H, 0, most, "ms"), y = q => H - (H - 12) * q;
    el(g, "svg:text", { x: 4, y: 14 }, "all jobs"); el(g, "svg:text", { x: 4, y: y(0.5) }, "half of them");
    lists.forEach((l, i) => { if (l.length) el(el(g, "svg:path", { d: `M${at(0)} ${y(0)}` + l.map((v, k) => `H${at(v)}V${y((k + 1) / l.length)}`).join("") + `H${at(most)}`, fill: "none", stroke: colourOf(c.strategies[i].name), "stroke-width": i === state.strategy ? 3 : 1.3 }), "svg:title", {}, c.strategies[i].name); });
    const dues = new Set(plan().jobs.filter(j => j.network === n && j.deadline_ms > 0).map(j => +(j.deadline_ms - j.arrival_ms).toFixed(3)));
    for (const d of dues) if (d <= most) el(g, "svg:line", { x1: at(d), x2: at(d), y1: 0, y2: H, stroke: "var(--mark)", "stroke-dasharray": "4 3" });
  });
  legend(s, c.strategies.map(x => x.name));
}

function draw() {
  const one = document.getElementById("strategy");
  one.replaceChildren();
  chosen().strategies.forEach((x, i) => el(one, "option", { value: i, selected: i === state.strategy ? "" : undefined }, x.name));
  document.getElementById("about").textContent = `${chosen().name}: ${chosen().networks.length} networks, ${plan().jobs.length} arrivals in ${chosen().duration_ms} ms`;
  summary(); pareto(); timeline(); use(); latency();
}
const pick = document.getElementById("scenario");
data.scenarios.forEach((x, i) => el(pick, "option", { value: i }, x.name));
pick.addEventListener("change", () => { state.scenario = +pick.value; state.strategy = 0; draw(); });
document.getElementById("strategy").addEventListener("change", e => { state.strategy = +e.target.value; draw(); });
draw();
