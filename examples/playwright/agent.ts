// An agent in TypeScript with Playwright: cd examples/playwright && npm install, then
// webassay run --agent-cmd "playwright=examples/playwright/node_modules/.bin/tsx examples/playwright/agent.ts"
// It follows the first link whose text occurs in the task, reads the heading of the page and answers with it.
import { text } from "node:stream/consumers";
import { chromium } from "playwright-core";

interface Task {
  instruction: string;
  cdp: string; // the DevTools of the whole browser; its default context is the episode
}

const task: Task = JSON.parse(await text(process.stdin));
const browser = await chromium.connectOverCDP(task.cdp);
const page = browser.contexts()[0].pages().find((one) => one.url().startsWith("http"))!;

for (const link of await page.getByRole("link").all()) {
  const name = (await link.innerText()).trim();
  if (name && task.instruction.includes(name)) {
    await link.click();
    await page.waitForLoadState();
    break;
  }
}

const [heading] = await page.locator("h1").allInnerTexts();
const found = { action: "retrieve", status: "SUCCESS", results: [heading?.trim()] };
// Saying that a task cannot be done is an answer too.
console.log(heading ? JSON.stringify(found) : "report_infeasible('The page has no heading.', 'NOT_FOUND_ERROR')");
await browser.close(); // lets go of the connection; the browser itself stays
