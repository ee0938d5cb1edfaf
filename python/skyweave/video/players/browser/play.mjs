// Plays a DASH manifest with dash.js in headless Chromium and prints what happens, an object a line.
//
//     node play.mjs MODULES CHROMIUM URL FAST_SWITCH
//
// MODULES is the folder with node_modules. The page comes from here and not from the server, but has the
// server's origin, so that it may read what the server sends. Ends when its standard input does.

import { createRequire } from "node:module";

const [modules, chromium, url, fastSwitch] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const playwright = require("playwright-core");

const PAGE = "<!doctype html><meta charset=utf-8><video id=film muted width=640 height=360></video>";
const SAMPLE_MS = 250;

const say = (told) => process.stdout.write(JSON.stringify(told) + "\n");

// In the page: dash.js with its own rules, and what it does.
const play = ({ url, fastSwitch, sampleMs }) => {
  const film = document.getElementById("film");
  const player = dashjs.MediaPlayer().create();
  const fetched = new Map();
  let refetched = 0;
  const finite = (value) => (Number.isFinite(value) ? value : null);
  const look = (event) => {
    const quality = film.getVideoPlaybackQuality();
    tell({
      event,
      position_s: film.currentTime,
      film_s: finite(film.duration),
      buffer_s: finite(player.getBufferLength("video")),
      shown: quality.totalVideoFrames - quality.droppedVideoFrames,
      discarded: quality.droppedVideoFrames,
      refetched_bytes: refetched,
    });
  };
  player.updateSettings({ streaming: { buffer: { fastSwitchEnabled: fastSwitch } } });
  player.on("fragmentLoadingCompleted", ({ request, response }) => {
    if (request.mediaType !== "video" || request.type !== "MediaSegment" || !response) return;
    const bytes = response.byteLength ?? 0;
    if (fetched.has(request.index)) refetched += bytes;
    fetched.set(request.index, bytes);
    tell({ event: "response", chunk: request.index, bytes });
  });
  player.on("fragmentLoadingAbandoned", () => tell({ event: "abandoned" }));
  player.on("qualityChangeRendered", ({ mediaType, newRepresentation }) => {
    if (mediaType === "video" && newRepresentation)
      tell({ event: "switch", quality: newRepresentation.absoluteIndex });
  });
  player.on("error", ({ error }) => tell({ event: "error", reason: error?.message ?? "unknown" }));
  film.addEventListener("playing", () => look("playing"));
  film.addEventListener("waiting", () => look("waiting"));
  film.addEventListener("ended", () => look("ended"));
  setInterval(() => look("sample"), sampleMs);
  player.initialize(film, url, true);
  tell({ event: "asked", version: player.getVersion() });
};

const browser = await playwright.chromium.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--mute-audio", "--disable-gpu", "--disable-features=LocalNetworkAccessChecks"],
});
const page = await browser.newPage();
const home = new URL("/skyweave-player", url).href;
await page.route(home, (route) => route.fulfill({ contentType: "text/html", body: PAGE }));
await page.exposeFunction("tell", say);
page.on("pageerror", (error) => say({ event: "error", reason: error.message }));
await page.goto(home);
await page.addScriptTag({ path: `${modules}/node_modules/dashjs/dist/modern/umd/dash.all.min.js` });
say({ event: "browser", version: browser.version() });
await page.evaluate(play, { url, fastSwitch: fastSwitch === "on", sampleMs: SAMPLE_MS });

process.stdin.on("end", async () => {
  await browser.close();
  process.exit(0);
});
process.stdin.resume();
