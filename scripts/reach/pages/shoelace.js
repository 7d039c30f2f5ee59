import '@shoelace-style/shoelace/dist/themes/light.css'
import '@shoelace-style/shoelace/dist/shoelace.js'
import { registerIconLibrary } from '@shoelace-style/shoelace/dist/utilities/icon-library.js'

// No icon is fetched from anywhere: each is a small drawing of ours.
const GLYPH = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7'/></svg>"
for (const name of ['default', 'system']) registerIconLibrary(name, { resolver: () => GLYPH })

const PEOPLE = ['Ada', 'Bela', 'Cora', 'Dan']
const each = (items, make) => items.map((item, n) => make(item, n)).join('')
const card = (title, body) => `<section class="card"><h3>${title}</h3>${body}</section>`
document.getElementById('root').innerHTML = `<div class="cards">${[
  card('Menus', `<sl-dropdown hoist><sl-button slot="trigger" size="small" caret>More</sl-button><sl-menu>${each(['Edit', 'Copy', 'Share'], (n) => `<sl-menu-item value="${n}">${n}</sl-menu-item>`)}<sl-divider></sl-divider><sl-menu-item type="checkbox">Wrap</sl-menu-item><sl-menu-item disabled>Locked</sl-menu-item></sl-menu></sl-dropdown>
    <sl-button-group>${each(['L', 'M', 'R'], (n) => `<sl-button size="small">${n}</sl-button>`)}</sl-button-group><sl-icon-button name="gear" label="Settings"></sl-icon-button><sl-tooltip content="Love it"><sl-button size="small" circle>♥</sl-button></sl-tooltip><sl-button size="small" href="#go">Link</sl-button><sl-button size="small" loading>Busy</sl-button><sl-copy-button value="x"></sl-copy-button>`),
  card('Menu', `<sl-menu>${each(['New', 'Open', 'Save'], (n) => `<sl-menu-item value="${n}">${n}</sl-menu-item>`)}</sl-menu>`),
  card('Fields', `<sl-input label="Name" size="small" clearable value="Ada"></sl-input><sl-input label="Secret" size="small" type="password" password-toggle></sl-input><sl-textarea label="Notes" size="small" rows="2"></sl-textarea>
    <sl-select label="Town" size="small" hoist>${each(['Aachen', 'Berlin', 'Cottbus'], (n) => `<sl-option value="${n}">${n}</sl-option>`)}</sl-select><sl-select label="Colours" size="small" multiple clearable hoist value="Red Blue">${each(['Red', 'Green', 'Blue'], (n) => `<sl-option value="${n}">${n}</sl-option>`)}</sl-select><sl-color-picker label="Colour" size="small" hoist></sl-color-picker><sl-input type="number" label="How many" size="small"></sl-input><sl-input type="date" label="Day" size="small"></sl-input>`),
  card('Choices', `<sl-checkbox checked>Subscribe</sl-checkbox><br><sl-checkbox disabled>Not for you</sl-checkbox><br><sl-switch>Dark</sl-switch><sl-radio-group label="Size" value="s">${each(['s', 'm', 'l'], (n) => `<sl-radio value="${n}">${n}</sl-radio>`)}</sl-radio-group><sl-radio-group label="Side" value="L">${each(['L', 'R'], (n) => `<sl-radio-button size="small" value="${n}">${n}</sl-radio-button>`)}</sl-radio-group><sl-rating label="Stars" value="2"></sl-rating><sl-range label="Volume" value="30"></sl-range>`),
  card('Panels', `<sl-button size="small" data-open="dialog">Dialog</sl-button><sl-button size="small" data-open="drawer">Drawer</sl-button><sl-dialog id="dialog" label="Sure?"><sl-input label="Why" size="small"></sl-input><sl-button slot="footer" data-close="dialog">No</sl-button><sl-button slot="footer" variant="primary" data-close="dialog">Yes</sl-button></sl-dialog><sl-drawer id="drawer" label="Drawer"><sl-menu>${each(['Inbox', 'Sent'], (n) => `<sl-menu-item>${n}</sl-menu-item>`)}</sl-menu></sl-drawer>
    ${each(['First', 'Second'], (n) => `<sl-details summary="${n}"><sl-button size="small">In ${n}</sl-button></sl-details>`)}<sl-alert open closable>Note</sl-alert>`),
  card('Navigation', `<sl-tab-group>${each(['One', 'Two', 'Three'], (n) => `<sl-tab slot="nav" panel="${n}">${n}</sl-tab>`)}<sl-tab slot="nav" panel="Four" closable>X</sl-tab>${each(['One', 'Two', 'Three', 'Four'], (n) => `<sl-tab-panel name="${n}">Tab ${n}</sl-tab-panel>`)}</sl-tab-group><sl-breadcrumb>${each(['Home', 'Tools'], (n) => `<sl-breadcrumb-item href="#${n}">${n}</sl-breadcrumb-item>`)}<sl-breadcrumb-item>Saws</sl-breadcrumb-item></sl-breadcrumb><sl-carousel navigation pagination style="--aspect-ratio: 4/1">${each(PEOPLE, (n) => `<sl-carousel-item>${n}</sl-carousel-item>`)}</sl-carousel>`),
  card('Lists', `<sl-tree>${each(['Fruit', 'Nuts'], (n) => `<sl-tree-item>${n}${each([1, 2], (i) => `<sl-tree-item>${n} ${i}</sl-tree-item>`)}</sl-tree-item>`)}</sl-tree><sl-tree selection="multiple">${each(['Oak', 'Elm'], (n) => `<sl-tree-item>${n}</sl-tree-item>`)}</sl-tree><ul class="items" id="people">${each(PEOPLE, (n) => `<li>${n} <sl-icon-button name="x" label="Remove ${n}"></sl-icon-button></li>`)}</ul>`),
  card('Chips', `${each(PEOPLE, (n) => `<sl-tag size="small" removable>${n}</sl-tag>`)}<sl-badge pill>3</sl-badge><sl-avatar initials="A" id="avatar"></sl-avatar><sl-card id="tile">A card that reacts</sl-card><sl-split-panel style="height: 60px"><div slot="start" id="start">Start</div><div slot="end">End</div></sl-split-panel><sl-image-comparer style="width: 200px"><img slot="before" alt="Before" width="200" height="40" style="background: #9bd"><img slot="after" alt="After" width="200" height="40" style="background: #db9"></sl-image-comparer>`),
  card('Rows', `<table id="rows"><tbody>${each(PEOPLE, (n) => `<tr><td><sl-checkbox>${n}</sl-checkbox></td><td>${30 + n.length}</td></tr>`)}</tbody></table><p id="said">nothing</p>`),
].join('')}</div>`

const said = document.getElementById('said')
for (const one of document.querySelectorAll('[data-open]')) one.addEventListener('click', () => document.getElementById(one.dataset.open).show())
for (const one of document.querySelectorAll('[data-close]')) one.addEventListener('click', () => document.getElementById(one.dataset.close).hide())
for (const one of document.querySelectorAll('sl-tag')) one.addEventListener('sl-remove', () => one.remove())
for (const id of ['people', 'rows', 'avatar', 'tile', 'start']) document.getElementById(id).addEventListener('click', (event) => { const hit = event.target.closest('li, tr') ?? event.currentTarget; said.textContent = `${id} ${hit.textContent.trim()}` })
