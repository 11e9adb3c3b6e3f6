// What a page of a report does when it is opened.
const perRun = () => { timeline(); types(); operations(); graph(); roofline(); stalls(); memory(); phone(); placement(); mark(); };
const choice = document.getElementById("run");
runs.forEach((r, i) => el(choice, "option", { value: i }, r.name));
choice.addEventListener("change", () => { state.run = Number(choice.value); state.op = -1; state.from = 0; state.to = 1; perRun(); });
// The search finds an operation by index, type or name, the next one at each further Enter.
const search = document.getElementById("search");
search.addEventListener("keydown", e => {
  const want = search.value.trim().toLowerCase(), ops = runs[state.run] ? runs[state.run].run.operations.filter(o => o.index >= 0 && `${o.index} ${o.type} ${nameOf(o)}`.toLowerCase().includes(want)) : [];
  if (e.key !== "Enter" || !want || !ops.length) return;
  select((ops[ops.findIndex(o => o.index === state.op) + 1] || ops[0]).index);
  const node = document.querySelector("#graph .selected"); if (node) node.scrollIntoView({ block: "nearest" });
});
document.getElementById("about").textContent = [...new Set(data.files.map((f, i) => `${[data.names[i], f.model].filter((x, k, l) => x && l.indexOf(x) === k && x !== document.title).concat("").join(": ")}${f.operation_count} operations, ${si(f.macs)} multiply-accumulates, on ${f.soc}`))].join("; ");
// The run shown first is the fastest, of a comparison that after the change.
const shown = data.diff && runs.find(r => r.source === 1 && r.run.device === (best || r).run.device) || best;
if (shown) { state.run = runs.indexOf(shown); choice.value = state.run; }
if (data.diff) state.colour = "change";
const draw = () => { answer(); advice(); changes(); summary(); reference(); if (runs.length) perRun(); else memory(); };
draw();
let width = room();
addEventListener("resize", () => { if (room() !== width) { width = room(); draw(); } });
document.documentElement.dataset.drawn = "yes";
