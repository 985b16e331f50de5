// SPDX-License-Identifier: Apache-2.0
// node build.mjs FOLDER_WITH_NODE_MODULES OUT: bundles the page, compresses it, gathers the notices of what it bundles.
import {createRequire} from 'node:module';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

const web = dirname(fileURLToPath(import.meta.url));
const modules = join(resolve(process.argv[2] ?? web), 'node_modules');
const out = resolve(process.argv[3] ?? join(web, 'dist'));
const {build} = createRequire(join(modules, 'index.js'))('esbuild');
const gzipBytesMax = 100_000;  // script and style together

const result = await build({
  entryPoints: {app: join(web, 'src/main.jsx')},
  outdir: out,
  bundle: true,
  minify: true,
  metafile: true,
  format: 'esm',
  target: ['es2020'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  nodePaths: [modules],
  legalComments: 'none',
  logLevel: 'warning',
});

// Every package that has a file in the bundle, with its licence as it ships it.
const bundled = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const name = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/);
  if (name) bundled.add(name[1]);
}
const notices = [...bundled].sort().map((name) => {
  const {version, license} = JSON.parse(readFileSync(join(modules, name, 'package.json')));
  return `${name} ${version} (${license})\n\n${readFileSync(join(modules, name, 'LICENSE'), 'utf8').trim()}\n`;
});
const rule = `\n${'-'.repeat(80)}\n\n`;
const licenses = ['Hourglass is licensed under the Apache License, Version 2.0.\nIts dashboard page contains the following packages.\n', ...notices].join(rule);

mkdirSync(out, {recursive: true});
const files = {'licenses.txt': Buffer.from(licenses)};
for (const name of ['app.js', 'app.css']) files[name] = readFileSync(join(out, name));
for (const name of ['index.html', 'icon.svg']) files[name] = readFileSync(join(web, 'src', name));
let total = 0;
for (const [name, bytes] of Object.entries(files)) {
  const gzip = gzipSync(bytes, {level: 9});
  if (name.startsWith('app.')) total += gzip.length;
  writeFileSync(join(out, name), bytes);
  writeFileSync(join(out, `${name}.gz`), gzip);
}
if (total > gzipBytesMax) throw new Error(`the page has ${total} bytes compressed; the limit is ${gzipBytesMax}`);
