// The views of what changed from one file to another. Less time, energy and traffic is better, on every view by colour, sign and word.
const diffOf = r => r && data.diff && data.diff.runs.find(d => d.device === r.run.device);
// changeOf is what an operation takes longer in the second file, in microseconds.
const changeOf = (o, r) => { const d = diffOf(r); if (!d) return undefined; const x = d.operations.find(x => x.index === o.index && x.type === o.type); return x ? x.time_us.after - x.time_us.before : 0; };
const delta = c => c.after - c.before, percent = c => c.after === c.before ? 0 : 100 * delta(c) / Math.abs(c.before);
// signed writes a change with its sign; one that the digits do not show has none.
const signed = (x, digits) => (Math.abs(x) < 0.5 * 10 ** -digits ? "" : x > 0 ? "+" : "−") + fixed(Math.abs(x), digits);
// changed is a cell of a change; with most, the largest of its column, it has a bar.
function changed(row, x, digits, most) {
  const cls = judged(x, 0.5 * 10 ** -digits), td = el(row, "td", { "data-value": x, class: cls }, isFinite(x) ? signed(x, digits) : "new");
  if (cls && most > 0 && isFinite(x)) { td.classList.add("filled"); td.style.setProperty("--part", `${100 * Math.min(1, Math.abs(x) / most)}%`); td.style.setProperty("--fill", `var(--${cls})`); }
  return td;
}
// changeColour goes from grey, no change, to green for the better or red for the worse.
function changeColour(x, most) {
  const [r, g, b] = x < 0 ? [0, 102, 77] : [168, 50, 15], t = most > 0 ? Math.min(1, Math.abs(x) / most) : 0;
  return "#" + [r, g, b].map(v => Math.round(226 + (v - 226) * t).toString(16).padStart(2, "0")).join("");
}
// bars of the parts of two latencies, on one scale.
function pairOfBars(card, runs) {
  const most = Math.max(...runs.map(r => r.latency_us)), seen = [];
  for (const r of runs) {
    const bar = el(card, "div", { class: "bar", style: `width:${100 * r.latency_us / most}%` }), groups = groupsOf(r), all = sum([...groups.values()]);
    for (const [name, us] of groups) { seen.push(name); el(bar, "i", { style: `width:${100 * us / all}%;background:${colourOfCause(name)}`, title: `${name}: ${spell(us)}` }); }
  }
  return seen;
}

function changes() {
  const d = data.diff; if (!d) return;
  const s = section("changes"), seen = new Set(); s.hidden = false;
  const of = (source, device) => (runs.find(r => r.source === source && r.run.device === device) || {}).run;
  const said = el(s, "div", { class: "answer" }), cards = el(s, "div", { class: "cards" });
  for (const r of d.runs) {
    const t = percent(r.latency_us), e = percent(r.energy_uj), word = (x, less, more) => Math.abs(x) < 0.05 ? "the same" : `${fixed(Math.abs(x), 1)} % ${x < 0 ? less : more}`;
    const types = new Map();
    for (const o of r.operations) if (o.index >= 0) types.set(o.type, (types.get(o.type) || 0) + delta(o.time_us));
    const [type, us] = [...types].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))[0] || [];
    const p = el(said, "p", {}, `${r.device}: `);
    el(p, "b", { class: judged(t) }, together(t ? word(t, "faster", "slower") : "as fast")); p.append(`, energy `); el(p, "b", { class: judged(e) }, together(word(e, "less", "more")));
    say(p, type && Math.abs(us) >= 0.05 ? `; ${type} changed most, ${signed(us, 1)} us.` : ".");
    const before = of(0, r.device), after = of(1, r.device);
    if (!before || !after || before.latency_us === undefined || after.latency_us === undefined) continue;
    const c = el(cards, "div", { class: `card ${judged(t) || ""}` });
    el(c, "div", {}, r.device);
    const big = el(c, "div", { class: "big" }); el(big, "span", { "data-value": r.latency_us.after }, spell(r.latency_us.after)); el(big, "small", { class: judged(t) }, together(` ${signed(t, 1)} %`));
    for (const n of pairOfBars(c, [before, after])) seen.add(n);
    say(el(c, "div", { class: "note" }), `before ${spell(r.latency_us.before)} · ${energy(r.energy_uj.after)}, before ${energy(r.energy_uj.before)}`);
  }
  note(s, `Before: ${data.names[0]}, the upper bar. After: ${data.names[1]}, the lower bar.`);
  legendOf(s, seen);
  const head = table(s, ["device", "latency (us)", "before", "change (%)", "energy (uJ)", "before", "change (%)"], "changed");
  for (const r of d.runs) { const row = el(head, "tr"); el(row, "th", { scope: "row" }, r.device); for (const c of [r.latency_us, r.energy_uj]) { number(row, c.after, 1); number(row, c.before, 1); changed(row, percent(c), 2); } }
  const parts = d.runs.flatMap(r => Object.entries(r.latency_parts_us || {}).map(([part, c]) => ({ device: r.device, part, c }))).filter(x => Math.abs(delta(x.c)) >= 0.005).sort((a, b) => Math.abs(delta(b.c)) - Math.abs(delta(a.c)));
  if (parts.length) {
    el(s, "h3", {}, "Parts of the latency that changed");
    const body = table(s, ["device", { name: "part", text: true }, "change (us)", "time (us)", "before"], "parts"), most = Math.abs(delta(parts[0].c));
    for (const { device, part, c } of parts) {
      const row = el(body, "tr"); el(row, "th", { scope: "row" }, device); const td = el(row, "td", { class: "text", title: meaning(part) || undefined }); el(td, "i", { class: "dot", style: `background:${partColour(part)}` }); td.append(part);
      changed(row, delta(c), 1, most); number(row, c.after, 1); number(row, c.before, 1);
    }
  }
  const still = d.runs.filter(r => !r.operations.length).map(r => r.device);
  for (const r of d.runs.filter(r => r.operations.length)) {
    el(s, "h3", {}, `Operations on ${r.device}: ${r.operations.length} changed, ${r.same_operations} did not`);
    const body = table(s, ["#", { name: "operation", text: true }, "change (us)", "time (us)", "before", "change (uJ)", "DRAM (bytes)", { name: "because", text: true }]), most = Math.max(...r.operations.map(o => Math.abs(delta(o.time_us))));
    for (const o of r.operations) {
      const row = el(body, "tr", selects(o.index)); el(row, "td", {}, o.index < 0 ? "-" : o.index); el(row, "td", { class: "text", title: meaning(o.type) || undefined }, o.type);
      changed(row, delta(o.time_us), 1, most); number(row, o.time_us.after, 1); number(row, o.time_us.before, 1); changed(row, delta(o.energy_uj), 1); changed(row, delta(o.dram_bytes), 0);
      const where = o.device_change[0] === o.device_change[1] ? "" : `${o.device_change[0] || "new"} → ${o.device_change[1] || "gone"} `;
      el(row, "td", { class: "text long" }, where + (o.stall_changes || []).slice(0, 3).map(w => `${w.reason} ${signed(delta(w.time_us), 1)} us`)
        .concat((o.counter_changes || []).slice(0, 2).map(c => `${c.name} ${c.count.before} → ${c.count.after}`)).join(", "));
    }
  }
  if (still.length) note(s, `No operation changed on ${still.join(", ")}.`);
}

