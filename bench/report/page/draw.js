"use strict";
// What pages draw with: the data in the page, elements, colours, tables, numbers.
const NS = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
// The colours of networks and strategies.
const colours = data.colours;
// The words of the page, for tooltips.
const words = data.glossary || [];
const meaning = word => words.filter(w => w.name === word).map(w => w.meaning).join(" ");
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
// together keeps a number and its unit on one line.
const together = text => text.replace(/(\d) (?=(?:%|us|ms|s|ns|uJ|mJ|J|W|mW|[kMG]?B|MHz|times)(?!\w))/g, "$1\u00a0");
// say appends a sentence in which numbers stay with their units, and flags whole.
function say(parent, text) {
  for (const part of together(text).split(/(--[\w-]+)/)) if (part.startsWith("--")) el(parent, "span", { class: "flag" }, part); else if (part) parent.append(part);
  return parent;
}
const note = (parent, text) => say(el(parent, "p", { class: "note" }), text);
// plain writes a number with at most four digits that count.
const plain = x => Number(Number(x).toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
// fixed writes a number with n digits after the point and commas between thousands.
const fixed = (x, n) => x === undefined || x === null ? "-" : Number(x).toLocaleString("en-US", { minimumFractionDigits: n, maximumFractionDigits: n });
const sum = list => list.reduce((a, b) => a + b, 0);
const si = x => { for (const [s, u] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (Math.abs(x) >= s) return +(x / s).toPrecision(3) + u; return String(+x.toPrecision(3)); };
const bytes = x => si(x).replace(/[kMGT]?$/, u => " " + u + "B");
// spell writes microseconds with the unit in which a person says them.
const spell = us => us >= 1e6 ? fixed(us / 1e6, 2) + " s" : us >= 1e3 ? fixed(us / 1e3, 2) + " ms" : fixed(us, 1) + " us";
// ticks are at most n round values from lo to hi: multiples of 1, 2 or 5 times a power of ten.
function ticks(lo, hi, n) {
  if (!(hi > lo)) return [lo];
  const raw = (hi - lo) / n, ten = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find(k => k * ten >= raw * 0.999) * ten, list = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) list.push(+(k * step).toPrecision(12));
  return list;
}
// xAxis draws round values of a unit from lo to hi along the x axis below a picture, lines through it, and returns the place of a value.
function xAxis(g, left, width, top, bottom, lo, hi, unit) {
  const at = v => left + width * (hi > lo ? (v - lo) / (hi - lo) : 0), right = left + width, round = v => v.toLocaleString("en-US", { maximumFractionDigits: 6 });
  let free = -Infinity; // where the text before ends
  for (const v of ticks(lo, hi, Math.max(2, Math.min(8, Math.floor(width / 90))))) {
    const text = round(v) + " " + unit, w = text.length * 6.4, x = at(v), start = Math.max(0, Math.min(right - w, x - w / 2));
    el(g, "svg:line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom });
    if (start > free + 6) { el(g, "svg:text", { x: start, y: bottom + 15 }, text); free = start + w; }
  }
  return at;
}
// number is a cell that shows a rounded value and carries the exact one.
const number = (row, x, digits, cls) => el(row, "td", { "data-value": x, class: cls }, fixed(x, digits));
// PAPER is the width in which pictures are drawn for a sheet, so that their letters are not shrunk; paper: a sheet is being drawn.
const PAPER = 700;
let paper = false;
// onPaper draws the page again when it is printed, and again for the screen.
function onPaper(draw) { for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => { paper = on; draw(); }); }
// room is the width that a picture has; narrow pages put names above bars in place of beside them.
const room = () => paper ? PAPER : Math.max(280, document.querySelector("main").clientWidth - 2);
const narrow = () => room() < 640;
// clip shortens a text to what a picture has room for.
const clip = (text, width) => { const n = Math.max(4, Math.floor(width / 6.6)); return text.length > n ? text.slice(0, n - 1) + "…" : text; };
const named = [];
// colourOf gives each name the same colour in all views.
function colourOf(name) { if (!named.includes(name)) named.push(name); return colours[named.indexOf(name) % colours.length]; }
// light reports whether black text is read better on a colour than white.
const light = c => { const [r, g, b] = [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16)); return 0.299 * r + 0.587 * g + 0.114 * b > 130; };
// heat goes from blue to yellow (cividis), lightness with the value.
function heat(x) { const a = [[0, 34, 78], [59, 73, 108], [123, 123, 120], [189, 175, 111], [253, 231, 55]]; x = Math.min(1, Math.max(0, x)) * 4; const i = Math.min(3, Math.floor(x)), t = x - i; return "#" + a[i].map((c, k) => Math.round(c + (a[i + 1][k] - c) * t).toString(16).padStart(2, "0")).join(""); }
// legend names colours, by default those of colourOf.
function legend(parent, list, colour = colourOf) { const p = el(parent, "p", { class: "legend" }); for (const n of list) { const s = el(p, "span", { title: meaning(n) || undefined }); el(s, "i", { style: `background:${colour(n)}` }); s.append(n); } }
function table(parent, heads, id) {
  const t = el(scroll(parent), "table", { id }), row = el(el(t, "thead"), "tr");
  heads.forEach(h => el(row, "th", { scope: "col", class: h.text ? "text" : undefined, title: meaning(h.word || h.name || h) || undefined }, h.name || h));
  return el(t, "tbody");
}
