// An agent in Node, without any package: webassay run --agent-cmd "node --experimental-websocket examples/external_agent.mjs"
// It follows the first link whose text occurs in the task, reads the heading of the page and answers with it.
import { text } from "node:stream/consumers";

const task = JSON.parse(await text(process.stdin));
const socket = new WebSocket(task.page); // the DevTools of the tab that is open at the start page
await new Promise((open, fail) => { socket.onopen = open; socket.onerror = fail; });

let last = 0;
const waiting = new Map();
socket.onmessage = ({ data }) => {
  const { id, result } = JSON.parse(data);
  waiting.get(id)?.(result);
};
const send = (method, params = {}) =>
  new Promise((done) => {
    waiting.set(++last, done);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
const evaluate = async (expression) =>
  (await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true })).result.value;

const links = await evaluate("[...document.links].map((a) => [a.textContent.trim(), a.href])");
const [, href] = links.find(([name]) => name && task.instruction.includes(name)) ?? [];
if (href) {
  await send("Page.navigate", { url: href });
  while ((await evaluate("document.readyState + location.href").catch(() => "")) !== "complete" + href);
}
const heading = await evaluate("document.querySelector('h1')?.textContent.trim() ?? ''");
const found = { action: "retrieve", status: "SUCCESS", results: [heading] };
// Saying that a task cannot be done is an answer too.
console.log(heading ? JSON.stringify(found) : "report_infeasible('The page has no heading.', 'NOT_FOUND_ERROR')");
socket.close();
