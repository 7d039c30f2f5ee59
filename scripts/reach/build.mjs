// node build.mjs PACKAGES PAGES OUT: every page below PAGES becomes OUT/name/index.html with one script and one style
// sheet. PACKAGES is the folder into which npm installed the libraries.
import { createRequire } from 'node:module'
import { mkdirSync, readdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import path from 'node:path'

const [packages, pages, out] = process.argv.slice(2)
const require = createRequire(path.join(packages, 'package.json'))
const esbuild = require('esbuild')
const { compile, compileModule } = require('svelte/compiler')

const svelte = {
  name: 'svelte',
  setup(build) {
    build.onLoad({ filter: /\.svelte$/ }, ({ path: filename }) => ({
      contents: compile(readFileSync(filename, 'utf8'), { filename, css: 'injected' }).js.code, loader: 'js', resolveDir: path.dirname(filename),
    }))
    build.onLoad({ filter: /\.svelte\.[jt]s$/ }, ({ path: filename }) => ({
      contents: compileModule(esbuild.transformSync(readFileSync(filename, 'utf8'), { loader: 'ts' }).code, { filename }).js.code, loader: 'js', resolveDir: path.dirname(filename),
    }))
  },
}
const shell = (name) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title>
<link rel="stylesheet" href="main.css"><body><div id="root"></div><script src="main.js"></script></body></html>`

for (const file of readdirSync(pages).filter((one) => /\.(js|jsx|ts)$/.test(one))) {
  const { name } = path.parse(file)
  const styles = ['shell.css', `${name}.css`].map((one) => path.resolve(pages, one)).filter(existsSync)
  const contents = [...styles, path.resolve(pages, file)].map((one) => `import ${JSON.stringify(one)}`).join('\n')
  await esbuild.build({
    stdin: { contents, resolveDir: pages },
    outfile: path.join(out, name, 'main.js'), bundle: true, minify: true, format: 'iife', jsx: 'automatic', logLevel: 'error', target: 'chrome120',
    nodePaths: [path.join(packages, 'node_modules')], conditions: ['svelte', 'browser', 'import'], mainFields: ['svelte', 'browser', 'module', 'main'],
    loader: { '.woff': 'dataurl', '.woff2': 'dataurl', '.svg': 'dataurl', '.ttf': 'dataurl', '.png': 'dataurl' },
    define: { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } }, plugins: [svelte],
  })
  mkdirSync(path.join(out, name), { recursive: true })
  const css = path.join(out, name, 'main.css')
  if (!existsSync(css)) writeFileSync(css, '')
  writeFileSync(path.join(out, name, 'index.html'), shell(name))
}
