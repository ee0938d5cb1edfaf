// What is wrong with a page as it is laid out: what stands off the screen, is cut, or is empty.
(() => {
  const wide = innerWidth;
  const shown = (one) => one.getClientRects().length > 0;
  const name = (one) => `${one.tagName.toLowerCase()}.${one.className.baseVal ?? one.className} ${one.textContent.trim().slice(0, 40)}`;
  const found = { off: [], cut: [], empty: [], mute: [], scrolled: [] };
  for (const one of document.body.querySelectorAll("*")) {
    if (!shown(one) || one.ownerSVGElement || one.closest(".scroll *")) continue;
    const box = one.getBoundingClientRect();
    if (box.right > wide + 0.5 || box.left < -0.5) found.off.push(name(one));
  }
  for (const svg of document.querySelectorAll("figure svg")) {
    if (!shown(svg)) continue;
    const room = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.left < room.left - 2 || box.right > room.right + 2 || box.top < room.top - 2 || box.bottom > room.bottom + 2)
        found.cut.push(name(text));
    }
    const panels = [...svg.querySelectorAll('g[id*="axes_"]')];
    if (!panels.length) found.empty.push(name(svg));
    for (const panel of panels) {
      const drawn = [...panel.querySelectorAll("[clip-path]")].filter((one) => !one.closest('g[id*="tick_"]'));
      const size = panel.getBoundingClientRect();
      if (!drawn.length || size.width < 60 || size.height < 40) found.empty.push(panel.id);
    }
  }
  for (const one of document.querySelectorAll(".scroll")) {
    if (!shown(one) || one.scrollWidth <= one.clientWidth + 1) continue;
    found.scrolled.push(name(one));
    if (one.tabIndex !== 0) found.mute.push(name(one));
  }
  const said = document.createElement("pre");
  said.id = "found";
  said.textContent = JSON.stringify({
    ...found,
    width: wide,
    page: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    figures: [...document.querySelectorAll("figure svg")].filter(shown).length,
    paper: getComputedStyle(document.body).backgroundColor,
  });
  parent.document.body.append(said);
})();
