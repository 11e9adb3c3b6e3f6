// The views of schedule. All figures are those of the data in the page; nothing is fetched.
const state = { scenario: 0, strategy: 0, from: 0, to: 1 };
const chosen = () => data.scenarios[state.scenario];
const plan = () => chosen().strategies[state.strategy];
const late = j => j.deadline_ms > 0 && j.end_ms > j.deadline_ms;
const span = s => Math.max(s.duration_ms, ...s.strategies.map(x => x.jobs.reduce((a, j) => Math.max(a, j.end_ms), 0)));
const mJ = uj => fixed(uj / 1000, 2) + " mJ";
// left is the room for names beside a picture; narrow pages have them above.
const left = () => narrow() ? 2 : 170;
const latencies = x => x.jobs.map(j => j.end_ms - j.arrival_ms).sort((a, b) => a - b);
const quantile = (sorted, q) => sorted.length ? sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] : undefined;
// bestOf is the strategy with the fewest missed deadlines, of those the one with the least mean.
const bestOf = list => list.reduce((a, x) => x.missed < a.missed || x.missed === a.missed && x.mean_ms < a.mean_ms ? x : a, list[0]);
const choose = i => { state.strategy = i; draw(); };
// working are the engines that a strategy uses.
const working = (c, p) => c.engines.map((name, e) => ({ name, e })).filter(x => p.spans.some(s => s.engine === x.e));

function answer() {
  const s = section("answer"), list = chosen().strategies, box = el(s, "div", { class: "answer" }), best = bestOf(list);
  if (!best) return;
  const dues = best.jobs.filter(j => j.deadline_ms > 0).length, lean = list.reduce((a, x) => x.energy_uj < a.energy_uj ? x : a, list[0]), lost = sum(best.jobs.map(j => j.lost_ms)), all = sum(latencies(best));
  say(el(box, "p"), `${best.name} does best: ${fixed(best.missed, 0)} of ${fixed(dues, 0)} deadlines missed, a mean of ${fixed(best.mean_ms, 3)} ms from arrival to result.`);
  say(el(box, "p"), lean === best ? `It also needs the least energy, ${mJ(best.energy_uj)}.` : `The least energy needs ${lean.name}: ${mJ(lean.energy_uj)} where ${best.name} needs ${mJ(best.energy_uj)}, with ${fixed(lean.missed, 0)} missed.`);
  if (all > 0) say(el(box, "p"), lost >= 0 ? `Of the time of ${best.name}'s jobs ${fixed(100 * lost / all, 1)} % is lost to each other.` : `${best.name}'s jobs need ${fixed(-100 * lost / (all - lost), 1)} % less time than alone: they find cores and engines awake that others have woken.`);
}

function summary() {
  const s = section("summary"), list = chosen().strategies, body = table(s, ["strategy", "missed", "mean (ms)", "p99 (ms)", "energy (mJ)", "jobs"], "strategies");
  const least = f => Math.min(...list.map(f)), p99 = x => quantile(latencies(x), 0.99);
  list.forEach((x, i) => {
    const row = el(body, "tr", { class: i === state.strategy ? "selected" : undefined });
    el(el(row, "th", { scope: "row" }), "button", { onclick: () => choose(i) }, x.name);
    number(row, x.missed, 0, x.missed === 0 ? undefined : x.missed === least(y => y.missed) ? "better" : "worse");
    for (const [f, digits, scale] of [[y => y.mean_ms, 3, 1], [p99, 3, 1], [y => y.energy_uj, 2, 1e-3]]) el(row, "td", { "data-value": f(x), class: list.length > 1 && f(x) === least(f) ? "better" : undefined }, fixed(f(x) * scale, digits));
    number(row, x.jobs.length, 0);
  });
  note(s, "Green: the least of its column.");
}

// pareto has a point per strategy; those that no other beats in both are joined by a line. Where none misses a deadline it is of the mean time.
function pareto() {
  const s = section("pareto"), list = chosen().strategies, misses = list.some(x => x.missed > 0), H = 260, L = 64, W = room(), value = x => misses ? x.missed : x.mean_ms;
  s.firstElementChild.textContent = misses ? "Energy and missed deadlines" : "Energy and mean time to the result";
  if (!misses) note(s, "No strategy misses a deadline.");
  const g = svg(s, W, H + 20, s.firstElementChild.textContent), most = Math.max(...list.map(value), 1e-9), least = misses ? 0 : Math.min(...list.map(value)), gap = (most - least || most) * 0.1, bottom = Math.max(0, least - gap), top = most + gap, y = v => H - 6 - (H - 20) * (v - bottom) / (top - bottom);
  const low = Math.min(...list.map(x => x.energy_uj)) / 1000, high = Math.max(...list.map(x => x.energy_uj)) / 1000, pad = (high - low || high || 1) * 0.08, at = xAxis(g, L, W - L - 8, 0, H, Math.max(0, low - pad), high + pad, "mJ");
  for (const v of ticks(bottom, top, 5)) if (!misses || Number.isInteger(v)) { el(g, "svg:line", { class: "grid", x1: L, x2: W - 8, y1: y(v), y2: y(v) }); el(g, "svg:text", { x: L - 6, y: Math.max(10, y(v) + 4), "text-anchor": "end" }, misses ? fixed(v, 0) : +v.toPrecision(4) + " ms"); }
  const place = x => ({ x: at(x.energy_uj / 1000), y: y(value(x)) });
  const front = list.filter(a => !list.some(b => value(b) <= value(a) && b.energy_uj <= a.energy_uj && (value(b) < value(a) || b.energy_uj < a.energy_uj))).sort((a, b) => a.energy_uj - b.energy_uj);
  if (front.length) el(g, "svg:path", { class: "axis", d: "M" + front.map(x => `${place(x).x} ${place(x).y}`).join("L") });
  const placed = list.map(x => ({ x: place(x).x - 6, y: place(x).y + 5, w: 12 }));
  list.forEach((x, i) => el(el(g, "svg:circle", { cx: place(x).x, cy: place(x).y, r: 6, fill: colourOf(x.name), tabindex: 0, class: i === state.strategy ? "selected" : "node", onclick: () => choose(i) }), "svg:title", {}, `${x.name}: ${x.missed} missed, ${mJ(x.energy_uj)}, mean ${fixed(x.mean_ms, 3)} ms`));
  const same = (a, b) => Math.abs(place(a).x - place(b).x) < 2 && Math.abs(place(a).y - place(b).y) < 2; // points that cover each other
  const firsts = list.filter((x, i) => list.findIndex(o => same(o, x)) === i);
  for (const x of [...front.filter(x => firsts.includes(x)), ...firsts.filter(x => !front.includes(x))]) { // names at the first free place near their points: above the line that joins the best
    const name = list.filter(o => same(o, x)).map(o => o.name).join(", "), w = name.length * 6.6 + 4, p = place(x);
    for (const [dx, dy] of [[9, -9], [9, 4], [-w - 8, 4], [-w - 8, 17], [9, 17], [-w - 8, -9], [-w / 2, -12], [-w / 2, 22], [22, -26], [22, 34], [-w - 20, -26], [-w - 20, 34], [22, -42], [22, 50]]) {
      const q = { x: p.x + dx, y: p.y + dy };
      if (q.x < L || q.x + w > W || q.y < 10 || q.y > H - 2 || placed.some(o => q.x < o.x + o.w && o.x < q.x + w && Math.abs(o.y - q.y) < 12)) continue;
      if (Math.abs(dy - 4) > 20) el(g, "svg:line", { class: "axis", x1: p.x, y1: p.y, x2: q.x + (dx < 0 ? w : -2), y2: q.y - 4 });
      placed.push({ ...q, w }); el(g, "svg:text", q, name); break;
    }
  }
  legend(s, list.map(x => x.name));
}

// timeline has a lane per engine with its work, and a lane per network with its jobs from arrival to result and their deadlines.
function timeline() {
  const s = section("timeline"), c = chosen(), p = plan(), all = span(c), lo = all * state.from, hi = all * state.to, L = left(), W = room(), ROW = narrow() ? 40 : 26, head = narrow() ? 16 : 0;
  const engines = working(c, p), idle = c.engines.filter(n => !engines.some(e => e.name === n)), H = (engines.length + c.networks.length) * ROW + 8;
  const controls = el(s, "p", { class: "controls" });
  const zoom = (k, m) => () => { const w = Math.min(1, (state.to - state.from) * k), mid = (state.from + state.to) / 2 + m * (state.to - state.from); state.from = Math.max(0, Math.min(1 - w, mid - w / 2)); state.to = state.from + w; timeline(); };
  for (const [name, k, m] of [["closer", 0.5, 0], ["wider", 2, 0], ["earlier", 1, -0.5], ["later", 1, 0.5], ["all", 1e9, 0]]) el(controls, "button", { onclick: zoom(k, m) }, name);
  el(controls, "span", { class: "note" }, ` ${fixed(lo, 1)} to ${fixed(hi, 1)} of ${fixed(all, 1)} ms, by ${p.name}`);
  const g = svg(s, W, H + 22, `timeline of ${p.name}`), at = xAxis(g, L, W - L - 8, 0, H, lo, hi, "ms");
  const bar = (y, h, a, b, fill, title, extra) => { if (b < lo || a > hi) return; const x = at(Math.max(a, lo)); el(el(g, "svg:rect", { x, y, width: Math.max(0.8, at(Math.min(b, hi)) - x), height: h, fill, ...extra }), "svg:title", {}, title); };
  const name = (row, text) => el(g, "svg:text", { x: 2, y: row * ROW + (head ? 13 : 17) }, clip(text, head ? W : L));
  engines.forEach((x, i) => {
    name(i, x.name);
    p.spans.filter(w => w.engine === x.e).forEach(w => bar(i * ROW + 3 + head, ROW - 8 - head, w.start_ms, w.end_ms, colourOf(c.networks[w.network]), `${c.networks[w.network]} on ${x.name}: ${fixed(w.start_ms, 3)} to ${fixed(w.end_ms, 3)} ms`));
  });
  c.networks.forEach((n, i) => name(engines.length + i, n));
  p.jobs.forEach(j => {
    const y = (engines.length + j.network) * ROW + head, bad = late(j), h = ROW - head;
    bar(y + 5, h - 12, j.arrival_ms, j.end_ms, colourOf(c.networks[j.network]), `arrives at ${fixed(j.arrival_ms, 3)}, result after ${fixed(j.end_ms - j.arrival_ms, 3)} ms${bad ? ", late" : ""}`, { "fill-opacity": bad ? 1 : 0.55, stroke: bad ? "var(--mark)" : "none", "stroke-width": 2 });
    if (j.deadline_ms > 0 && j.deadline_ms >= lo && j.deadline_ms <= hi) el(el(g, "svg:line", { x1: at(j.deadline_ms), x2: at(j.deadline_ms), y1: y + 2, y2: y + h - 4, stroke: bad ? "var(--mark)" : "var(--dim)", "stroke-width": bad ? 3 : 1 }), "svg:title", {}, `due at ${fixed(j.deadline_ms, 3)} ms`);
  });
  legend(s, c.networks);
  note(s, `Engines above, jobs from arrival to result below. Lines are deadlines; a job that misses its own has an outline and a thick line.${idle.length ? ` Without work: ${idle.join(", ")}.` : ""}`);
}

// use has, per engine, the share of each span of time in which it worked, and below them the time that jobs lost.
function use() {
  const s = section("use"), c = chosen(), p = plan(), all = span(c), L = left(), W = room(), N = narrow() ? 30 : 60, ROW = narrow() ? 70 : 54, head = narrow() ? 18 : 0, bin = all / N;
  const engines = working(c, p), H = (engines.length + 1) * ROW, g = svg(s, W, H + 22, `use of the engines by ${p.name}`), at = xAxis(g, L, W - L - 8, 0, H, 0, all, "ms"), tall = ROW - 10 - head;
  const work = c.engines.map(() => c.networks.map(() => new Array(N).fill(0))), lost = new Array(N).fill(0);
  for (const x of p.spans) for (let k = Math.floor(x.start_ms / bin); k < N && k * bin < x.end_ms; k++) work[x.engine][x.network][k] += Math.max(0, Math.min(x.end_ms, (k + 1) * bin) - Math.max(x.start_ms, k * bin)) / bin;
  for (const j of p.jobs) lost[Math.min(N - 1, Math.floor(j.arrival_ms / bin))] += Math.max(0, j.lost_ms);
  const name = (row, text, more) => { el(g, "svg:text", { x: 2, y: row * ROW + (head ? 13 : 22) }, head ? `${text}: ${more}` : text); if (!head) el(g, "svg:text", { x: 2, y: row * ROW + 38, class: "dim" }, more); };
  engines.forEach((x, i) => {
    const busy = lost.map((_, k) => sum(work[x.e].map(w => w[k]))), most = Math.max(...busy, 1e-9);
    name(i, x.name, `${fixed(100 * sum(busy) / N, 1)} %, at most ${fixed(100 * most, 0)} %`);
    for (let k = 0; k < N; k++) {
      let y = (i + 1) * ROW - 4;
      c.networks.forEach((n, m) => { const h = work[x.e][m][k] / most * tall; if (h > 0) el(el(g, "svg:rect", { x: at(k * bin), y: y - h, width: Math.max(0.5, at(bin) - at(0) - 0.5), height: h, fill: colourOf(n) }), "svg:title", {}, `${n} on ${x.name}: ${fixed(100 * work[x.e][m][k], 1)} %`); y -= h; });
    }
  });
  const most = Math.max(...lost, 1e-9);
  name(engines.length, "lost by jobs", `${fixed(sum(lost), 2)} ms, at most ${fixed(most, 2)}`);
  lost.forEach((v, k) => { if (v > 0) el(el(g, "svg:rect", { x: at(k * bin), y: H - 4 - tall * v / most, width: at(bin) - at(0) - 0.5, height: tall * v / most, fill: "var(--mark)" }), "svg:title", {}, `${fixed(v, 3)} ms lost by jobs that arrive here`); });
  legend(s, c.networks);
}

// latency has, per network, the share of jobs that have their result within a time, a line per strategy.
function latency() {
  const s = section("latency"), c = chosen(), H = 170, L = 64, W = room();
  note(s, `The share of jobs that have their result within a time; thick: ${plan().name}. Dashed: deadlines.`);
  c.networks.forEach((name, n) => {
    el(s, "h3", {}, name);
    const lists = c.strategies.map(x => x.jobs.filter(j => j.network === n).map(j => j.end_ms - j.arrival_ms).sort((a, b) => a - b));
    const most = Math.max(1e-6, ...lists.map(l => l.length ? l[l.length - 1] : 0)) * 1.03;
    const g = svg(s, W, H + 22, `latencies of ${name}`), at = xAxis(g, L, W - L - 8, 0, H, 0, most, "ms"), y = q => H - (H - 12) * q;
    for (const q of [0.5, 0.9, 1]) { el(g, "svg:line", { class: "grid", x1: L, x2: W - 8, y1: y(q), y2: y(q) }); el(g, "svg:text", { x: L - 6, y: y(q) + 4, "text-anchor": "end" }, `${100 * q} %`); }
    const chosenLast = lists.map((l, i) => [l, i]).sort((a, b) => (a[1] === state.strategy) - (b[1] === state.strategy));
    chosenLast.forEach(([l, i]) => { if (l.length) el(el(g, "svg:path", { d: `M${at(0)} ${y(0)}` + l.map((v, k) => `H${at(v)}V${y((k + 1) / l.length)}`).join("") + `H${at(most)}`, fill: "none", stroke: colourOf(c.strategies[i].name), "stroke-width": i === state.strategy ? 3.5 : 1.3 }), "svg:title", {}, `${c.strategies[i].name}: half within ${fixed(quantile(l, 0.5), 3)}, 99 % within ${fixed(quantile(l, 0.99), 3)} ms`); });
    const dues = new Set(plan().jobs.filter(j => j.network === n && j.deadline_ms > 0).map(j => +(j.deadline_ms - j.arrival_ms).toFixed(3)));
    for (const d of dues) if (d <= most) el(g, "svg:line", { x1: at(d), x2: at(d), y1: 0, y2: H, stroke: "var(--mark)", "stroke-dasharray": "4 3" });
    const beyond = [...dues].filter(d => d > most).sort((a, b) => a - b);
    if (beyond.length) note(s, `Due after ${fixed(beyond[0], 1)} ms, right of the picture.`);
  });
  legend(s, c.strategies.map(x => x.name));
}

function draw() {
  const one = document.getElementById("strategy"), c = chosen();
  one.replaceChildren();
  c.strategies.forEach((x, i) => el(one, "option", { value: i, selected: i === state.strategy ? "" : undefined }, x.name));
  document.getElementById("about").textContent = `${c.name}: ${c.networks.length} networks, ${fixed(plan().jobs.length, 0)} arrivals in ${fixed(c.duration_ms, 0)} ms`;
  for (const n of c.networks) colourOf(n); // networks have the colours that are told apart best
  answer(); summary(); pareto(); timeline(); use(); latency();
}
// show shows a scenario by its best strategy, the timeline from its begin over about a dozen jobs.
function show(i) {
  state.scenario = i;
  const list = chosen().strategies; state.strategy = Math.max(0, list.indexOf(bestOf(list)));
  const arrivals = plan().jobs.map(j => j.arrival_ms).sort((a, b) => a - b), until = arrivals[12];
  state.from = 0; state.to = until > 0 ? Math.min(1, until / span(chosen())) : 1;
  draw();
}
const pick = document.getElementById("scenario");
data.scenarios.forEach((x, i) => el(pick, "option", { value: i }, x.name));
pick.addEventListener("change", () => show(+pick.value));
document.getElementById("strategy").addEventListener("change", e => choose(+e.target.value));
show(0);
let width = room();
onPaper(draw);
addEventListener("resize", () => { if (room() !== width) { width = room(); draw(); } });
document.documentElement.dataset.drawn = "yes";
