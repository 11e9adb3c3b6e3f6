// faults are those of a document at the width of its window: text that is cut, text over other text, a page wider than the window.
function faults(d) {
  const out = [], w = d.defaultView, label = e => `${(e.closest("section") || {}).id || e.closest("nav, header, body").tagName} ${JSON.stringify(e.textContent.trim().slice(0, 30))}`;
  if (d.documentElement.scrollWidth > w.innerWidth + 1) out.push(`the page is ${d.documentElement.scrollWidth} wide`);
  for (const g of d.querySelectorAll("svg")) {
    const box = g.getBoundingClientRect(), texts = [...g.querySelectorAll("text")].map(e => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0).sort((a, b) => a[1].left - b[1].left);
    texts.forEach(([e, r], i) => {
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 2 || r.bottom > box.bottom + 2) out.push(`cut: ${label(e)}`);
      for (let k = i + 1; k < texts.length && texts[k][1].left < r.right - 1; k++) { const q = texts[k][1]; if (q.top < r.bottom - 3 && q.bottom > r.top + 3) out.push(`overlap: ${label(e)} and ${label(texts[k][0])}`); }
    });
  }
  const boxes = [...d.querySelectorAll("h1, h2, h3, p, th, td, button, label, .card > div, .legend span, .facts span")].filter(e => e.checkVisibility() && e.textContent.trim() && e.getClientRects().length);
  for (const e of boxes) {
    if (e.scrollWidth > e.clientWidth + 1 && w.getComputedStyle(e).display !== "inline") out.push(`cut: ${label(e)}`);
    const r = e.getBoundingClientRect();
    if (!e.closest(".scroll") && r.right > w.innerWidth + 1) out.push(`outside: ${label(e)}`);
  }
  const flat = boxes.filter(e => !boxes.some(o => o !== e && e.contains(o))).map(e => [e, e.getBoundingClientRect()]).filter(([e]) => !e.closest("nav, thead")).sort((a, b) => a[1].top - b[1].top);
  flat.forEach(([e, r], i) => { for (let k = i + 1; k < flat.length && flat[k][1].top < r.bottom - 3; k++) { const q = flat[k][1]; if (q.left < r.right - 2 && q.right > r.left + 2 && q.bottom > r.top + 3 && e.closest(".scroll") === flat[k][0].closest(".scroll")) out.push(`overlap: ${label(e)} and ${label(flat[k][0])}`); } });
  return out;
}
