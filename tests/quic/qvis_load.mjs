// Loads qlog files as the viewer qvis does, by qvis's own code:
//     node qvis_load.mjs QVIS BUNDLE FILE...
// QVIS is a folder that scripts/install-qvis made; BUNDLE is where its loader is put together. Prints
// JSON: for each file what qvis takes it for, and every complaint that it would show or log.

import { createRequire } from "node:module";
import { openAsBlob } from "node:fs";
import { pathToFileURL } from "node:url";

const [qvis, bundle, ...files] = process.argv.slice(2);
const source = `${qvis}/visualizations/src`;
const { build } = createRequire(`${qvis}/package.json`)("esbuild");

// Vue draws and the schema is that of qlog 0.1, which no registry has: the loader of later ones needs neither.
const absent = {
  name: "absent",
  setup(builder) {
    builder.onResolve({ filter: /^(vue|@quictools\/.*)$/ }, ({ path }) => ({ path, namespace: "absent" }));
    builder.onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "module.exports = {}" }));
  },
};
const entry = `
export { default as Sequences } from "@/components/filemanager/newlineconverter/textsequencejsontoqlog";
export { QlogLoader } from "@/data/QlogLoader";
`;
await build({
  stdin: { contents: entry, resolveDir: source, loader: "ts" },
  alias: { "@": source },
  bundle: true,
  format: "esm",
  outfile: bundle,
  plugins: [absent],
  logLevel: "error",
  tsconfigRaw: "{}",
});

const complaints = [];
console.log = () => {};
console.error = console.warn = globalThis.alert = (...words) => complaints.push(words.map(String).join(" "));
const { Sequences, QlogLoader } = await import(pathToFileURL(bundle));

const seen = [];
for (const file of files) {
  const stream = (await openAsBlob(file)).stream();
  const group = QlogLoader.fromJSON(await Sequences.convert(stream));
  seen.push((group?.getConnections() ?? []).map(describe));
}
process.stdout.write(JSON.stringify({ seen, complaints }));

// What the views of qvis ask a connection for.
function describe(connection) {
  connection.setupLookupTable();
  const parsed = connection.getEvents().map((event) => {
    const { category, name, relativeTime, data } = connection.parseEvent(event);
    return { name: `${category}:${name}`, ms: relativeTime, data };
  });
  const looked = (category, name) =>
    connection.lookup(category, name).map((event) => connection.parseEvent(event).data);
  return {
    from: connection.vantagePoint.type,
    names: parsed.map(({ name }) => name),
    ms: parsed.map(({ ms }) => ms),
    sent: looked("transport", "packet_sent"),
    received: looked("transport", "packet_received"),
    metrics: looked("recovery", "metrics_updated"),
  };
}
