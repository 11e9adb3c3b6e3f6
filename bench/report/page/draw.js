"use strict";
// What pages draw with: elements, colours, tables, numbers.
// Okabe and Ito's colours, which stay apart for colour-blind readers; then their darker forms.
const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999", "#004c78", "#9c6b00", "#006b4e", "#8a4f71", "#2f7ba3", "#8f3f00", "#a39a1f", "#555555"];
const NS = "http://www.w3.org/2000/svg";
function el(parent, tag, attributes, ...children) {
  const e = tag.startsWith("svg:") ? document.createElementNS(NS, tag.slice(4)) : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== false) e.setAttribute(k, v);
  }
  e.append(...children.map(String));
  if (parent) parent.append(e);
  return e;
}
const section = id => { const s = document.getElementById(id); while (s.children.length > 1) s.lastChild.remove(); return s; };
const svg = (parent, w, h, label) => el(parent, "svg:svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label });
const scroll = parent => el(parent, "div", { class: "scroll", tabindex: 0 }); // the keyboard reaches it
const fixed = (x, n) => x === undefined || x === null ? "-" : Number(x).toFixed(n);
const sum = list => list.reduce((a, b) => a + b, 0);
const si = x => { for (const [s, u] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (Math.abs(x) >= s) return +(x / s).toPrecision(3) + u; return String(+x.toPrecision(3)); };
// number is a cell that shows a rounded value and carries the exact one.
const number = (row, x, digits) => el(row, "td", { "data-value": x }, fixed(x, digits));
const names = [];
// colourOf gives each name the same colour in all views.
function colourOf(name) { if (!names.includes(name)) names.push(name); return colours[names.indexOf(name) % colours.length]; }
// heat goes from blue to yellow (cividis), lightness with the value.
function heat(x) { const a = [[0, 34, 78], [59, 73, 108], [123, 123, 120], [189, 175, 111], [253, 231, 55]]; x = Math.min(1, Math.max(0, x)) * 4; const i = Math.min(3, Math.floor(x)), t = x - i; return `rgb(${a[i].map((c, k) => Math.round(c + (a[i + 1][k] - c) * t)).join(",")})`; }
function legend(parent, list) { const p = el(parent, "p", { class: "legend" }); for (const n of list) { const s = el(p, "span"); el(s, "i", { style: `background:${colourOf(n)}` }); s.append(n); } }
// stacked draws a bar of parts; widths are shares of scale.
function stacked(g, y, h, width, parts, scale, unit) {
  let x = 0;
  for (const [name, v] of parts) { const w = scale > 0 ? width * v / scale : 0; if (w > 0) el(el(g, "svg:rect", { x, y, width: w, height: h, fill: colourOf(name) }), "svg:title", {}, `${name}: ${fixed(v, 2)} ${unit}`); x += w; }
}
function table(parent, heads, id) {
  const t = el(parent, "table", { id }), row = el(el(t, "thead"), "tr");
  heads.forEach(h => el(row, "th", { scope: "col", class: h.text ? "text" : undefined }, h.name || h));
  return el(t, "tbody");
}
