// What a page of a report does when it is opened.
const perRun = () => { timeline(); types(); operations(); graph(); roofline(); stalls(); memory(); phone(); placement(); mark(); };
const choice = document.getElementById("run");
runs.forEach((r, i) => el(choice, "option", { value: i }, r.name));
choice.addEventListener("change", () => { state.run = Number(choice.value); state.op = -1; state.from = 0; state.to = 1; perRun(); });
// The search finds operations, the next one at each further Enter.
const search = document.getElementById("search");
search.addEventListener("input", () => { state.search = search.value; fade(); });
search.addEventListener("keydown", e => {
  const ops = found() || [];
  if (e.key !== "Enter" || !ops.length) return;
  select((ops[ops.findIndex(o => o.index === state.op) + 1] || ops[0]).index);
  toSelected();
});
document.getElementById("about").textContent = [...new Set(data.files.map((f, i) => `${[data.names[i], f.model].filter((x, k, l) => x && l.indexOf(x) === k && x !== document.title).concat("").join(": ")}${f.operation_count} operations, ${si(f.macs)} multiply-accumulates, on ${f.soc}`))].join("; ");
// The run shown first is the fastest of the first file, of a comparison the one whose latency changed most, after the change.
const moved = r => { const d = diffOf(r); return d ? Math.abs(percent(d.latency_us)) : -1; };
const shown = data.diff && timedOf(1).reduce((a, r) => !a || moved(r) > moved(a) ? r : a, undefined) || timed.length && bestOf(timed[0].source);
if (shown) { state.run = runs.indexOf(shown); choice.value = state.run; }
if (data.diff) state.colour = "change";
const draw = () => { answer(); advice(); changes(); summary(); reference(); if (runs.length) perRun(); else memory(); };
draw();
let width = room();
onPaper(draw);
addEventListener("resize", () => { if (room() !== width) { width = room(); draw(); } });
document.documentElement.dataset.drawn = "yes";
