/* Draws the charts of a node anew when its numbers or the colours of the page change. */
"use strict";
(() => {
  const charts = document.getElementById("charts");
  const kinds = {
    carried: { unit: "Mbit/s", names: ["received", "sent"], colours: ["--satellite", "--cellular1"], points: true },
    dish: { unit: "Mbit/s", names: ["down", "up"], colours: ["--satellite", "--cellular1"], points: false },
    ping: { unit: "ms", names: ["round trip"], colours: ["--satellite"], points: false },
    radio: { unit: "dBm", names: ["RSRP"], colours: ["--cellular1"], points: false, free: true },
    quality: { unit: "dB", names: ["SINR", "RSRQ"], colours: ["--cellular1", "--soft"], points: false, free: true },
    clock: { unit: "ms", names: ["offset", "error"], colours: ["--bonded", "--soft"], points: false },
  };
  const drawn = new Map();
  let data = null;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const two = (number) => String(number).padStart(2, "0");

  function moments(_, seconds, __, ___, step) {
    return seconds.map((s) => {
      const when = new Date(s * 1e3);
      const day = `${two(when.getUTCMonth() + 1)}-${two(when.getUTCDate())}`;
      const time = `${two(when.getUTCHours())}:${two(when.getUTCMinutes())}`;
      return step >= 86400 ? day : step < 60 ? `${time}:${two(when.getUTCSeconds())}` : time;
    });
  }

  function options(kind, width) {
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const series = kind.names.map((label, at) => ({
      label, stroke: colour(kind.colours[at]), width: 2,
      value: (_, value) => (value === null ? "–" : value.toFixed(1) + " " + kind.unit),
      paths: kind.points ? () => null : undefined,
      points: { show: kind.points || undefined, size: 7, fill: colour(kind.colours[at]) },
    }));
    return {
      width, height: 220, tzDate: (s) => uPlot.tzDate(new Date(s * 1e3), "Etc/UTC"),
      series: [{ label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" }, ...series],
      axes: [{ ...axis, space: 70, values: moments }, { ...axis, size: 54 }],
      // a single moment would be drawn over years
      scales: {
        x: { range: ({ data: [at] }) => [Math.min(at[0], at.at(-1) - 600), at.at(-1)] },
        y: { range: (_, low, high) => kind.free ? [low - 5, high + 5] : [Math.min(0, low), high > 0 ? high * 1.1 : 1] },
      },
      cursor: { drag: { x: false, y: false } },
    };
  }

  function draw() {
    for (const place of charts.querySelectorAll("[data-chart]")) {
      const name = place.dataset.chart, columns = data && data[name];
      drawn.get(name)?.destroy();
      drawn.delete(name);
      place.replaceChildren();
      if (!columns || columns[0].length === 0) {
        const said = document.createElement("p");
        said.textContent = "Nothing to draw yet.";
        place.append(said);
        continue;
      }
      const chart = new uPlot(options(kinds[name], place.clientWidth), columns, place);
      drawn.set(name, chart);
      place.dataset.points = columns[0].length;
    }
  }

  async function refresh() {
    const answer = await fetch(charts.dataset.series, { credentials: "same-origin" });
    if (answer.ok && !answer.redirected) {
      data = await answer.json();
      draw();
    }
  }

  for (const name of ["nodes", "runs"]) document.body.addEventListener(name, refresh);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => {
    for (const place of charts.querySelectorAll("[data-chart]")) {
      drawn.get(place.dataset.chart)?.setSize({ width: place.clientWidth, height: 220 });
    }
  }).observe(charts);
  refresh();
})();
