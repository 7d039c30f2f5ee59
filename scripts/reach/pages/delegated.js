// An application that delegates everything: two listeners on the document, and innerHTML for every change. No element
// has a listener, a role or a tabindex unless a browser gives it one; half of the controls do not even show a hand.
const PEOPLE = ['Ada Byron', 'Bela Kun', 'Cora Lang', 'Dan Ek', 'Eva Roth', 'Finn Olm']
const FOLDERS = [['inbox', 'Inbox', 12], ['starred', 'Starred', 3], ['sent', 'Sent', 0], ['spam', 'Spam', 41]]
const BOARD = { todo: ['Paint', 'Sand'], doing: ['Saw'], done: [] }
const state = {
  folder: 'inbox', starred: ['Bela Kun'], open: '', picked: [], menu: '', tab: 'Week', dark: false, stars: 2, step: 1, page: 1,
  swatch: '', font: 'Sans', dialog: false, layer: 'Header', expanded: ['Page'], said: '', collapsed: [], filter: '', board: BOARD,
}

const each = (items, make) => items.map((item, n) => make(item, n)).join('')
const on = (yes, name) => (yes ? ` ${name}` : '')
const ICON = '<svg width="14" height="14" viewBox="0 0 14 14"><circle cx="7" cy="7" r="6"/></svg>'

const folders = () => each(FOLDERS, ([key, name, count]) =>
  `<div class="folder${on(state.folder === key, 'here')}" data-act="folder" data-arg="${key}"><span class="icon">${ICON}</span><span>${name}</span>${count ? `<span class="count">${count}</span>` : ''}</div>`)
const mails = () => each(PEOPLE, (name) =>
  `<div class="mail${on(state.open === name, 'here')}" data-act="open" data-arg="${name}">
    <span class="box${on(state.picked.includes(name), 'on')}" data-act="pick" data-arg="${name}"></span>
    <span class="star${on(state.starred.includes(name), 'on')}" data-act="star" data-arg="${name}">★</span>
    <span class="who">${name}</span><span class="subject">About the ${state.folder}</span></div>`)
const tools = () => each([['Ab', 'none'], ['Ab', 'underline'], ['Ab', 'line-through']], ([text, line]) =>
  `<span class="tool" title="${line}" style="text-decoration:${line}" data-act="say" data-arg="${line}">${text}</span>`)
const swatches = () => each(['#c33', '#3c3', '#33c', '#cc3', '#3cc', '#c3c'], (colour) =>
  `<i class="swatch${on(state.swatch === colour, 'on')}" style="background:${colour}" data-act="swatch" data-arg="${colour}"></i>`)
const layers = (names, depth) => each(names, (name) =>
  `<div class="layer${on(state.layer === name, 'on')}" style="padding-left:${8 + depth * 14}px" data-act="layer" data-arg="${name}"><span class="twist" data-act="twist" data-arg="${name}">${state.expanded.includes(name) ? '▾' : '▸'}</span>${name}</div>`
  + (state.expanded.includes(name) && depth === 0 ? layers([`${name} header`, `${name} body`], 1) : ''))
const list = (key, value, names) =>
  `<div class="list"><div class="value" data-act="menu" data-arg="${key}">${value} <span class="arrow">▾</span></div>${state.menu === key
    ? `<div class="options">${each(names, (name) => `<div class="option${on(name === value, 'on')}" data-act="choose" data-arg="${key}:${name}">${name}</div>`)}</div>` : ''}</div>`
const tabs = () => each(['Day', 'Week', 'Month'], (name) => `<span class="tab${on(state.tab === name, 'here')}" data-act="tab" data-arg="${name}">${name}</span>`)
const columns = () => each(Object.entries(state.board), ([key, cards]) =>
  `<div class="column" data-drop="${key}"><b>${key}</b>${each(cards, (card) => `<div class="note" draggable="true" data-act="say" data-arg="${card}">${card}</div>`)}<div class="add" data-act="add" data-arg="${key}">+ add</div></div>`)
const table = () => `<table><thead><tr>${each(['Name', 'Size'], (name) => `<th data-act="say" data-arg="sort ${name}">${name}</th>`)}</tr></thead><tbody>${
  each(['Oak', 'Elm', 'Fir'], (name, n) => `<tr data-act="say" data-arg="row ${name}"><td>${name}</td><td>${n + 3} m</td></tr>`)}</tbody></table>`
const pages = () => each([1, 2, 3, 4], (n) => `<a class="page${on(state.page === n, 'here')}" data-act="page" data-arg="${n}">${n}</a>`)
const stars = () => each([1, 2, 3, 4, 5], (n) => `<span class="rate${on(n <= state.stars, 'on')}" data-act="stars" data-arg="${n}">★</span>`)
const steps = () => each(['Cart', 'Pay', 'Done'], (name, n) => `<span class="step" data-act="say" data-arg="step ${name}"><em>${name[0]}</em> ${name}</span>`)
const sections = () => each(['Delivery', 'Returns'], (name) => `<div class="fold"><div class="head" data-act="fold" data-arg="${name}">${name}</div>${
  state.collapsed.includes(name) ? `<div class="body">All about ${name.toLowerCase()}. <span class="inline" data-act="say" data-arg="read ${name}">Read on</span></div>` : ''}</div>`)
const dialog = () => (state.dialog ? `<div class="shade" data-act="close"><div class="dialog" data-act="keep"><b>Really?</b><p>It cannot be undone.</p><span class="yes" data-act="close">Yes</span> <span class="no" data-act="close">No</span> <span class="x" data-act="close">✕</span></div></div>` : '')
const chips = () => each(['red', 'green', 'blue'], (name) => `<span class="chip">${name}<span class="drop" data-act="say" data-arg="drop ${name}">×</span></span>`)
const card = (title, body) => `<section class="card"><h3>${title}</h3>${body}</section>`

const render = () => {
  document.getElementById('root').innerHTML = `<div class="cards">${[
    card('Folders', folders()), card('Mail', mails()), card('Text', `<div>${tools()}</div><div>${swatches()}</div>${list('font', state.font, ['Sans', 'Serif', 'Mono'])}`),
    card('Layers', `<div class="pane">${layers(['Page', 'Header', 'Footer', 'Aside', 'Main'], 0)}</div>`), card('Time', `${tabs()}<p>${state.tab}</p><div class="switch${on(state.dark, 'on')}" data-act="dark"><div class="knob"></div></div> dark`),
    card('Board', `<div class="board">${columns()}</div>`), card('Table', table()), card('Pages', `${pages()}<div>${stars()}</div><div>${steps()}</div>`),
    card('Sections', sections()), card('Chips', `${chips()}<input class="search" placeholder="Filter" value="${state.filter}"><span class="ask" data-act="dialog">Delete all</span><label class="agree"><input type="checkbox"> I agree</label>`),
    card('Text that reacts', `<p>A paragraph with <span data-act="say" data-arg="word">a word</span> that reacts, and <u class="inline" data-act="say" data-arg="line">another</u>.</p><div class="blank" data-act="say" data-arg="blank"></div><div class="edit" contenteditable="true">Edit me</div>`),
  ].join('')}</div>${dialog()}<div id="said">${state.said}</div>`
}

const toggle = (list, item) => (list.includes(item) ? list.filter((one) => one !== item) : [...list, item])
const ACTS = {
  folder: (key) => { state.folder = key }, open: (name) => { state.open = name }, pick: (name) => { state.picked = toggle(state.picked, name) },
  star: (name) => { state.starred = toggle(state.starred, name) }, say: (text) => { state.said = text }, swatch: (colour) => { state.swatch = colour },
  layer: (name) => { state.layer = name }, twist: (name) => { state.expanded = toggle(state.expanded, name) }, menu: (key) => { state.menu = state.menu === key ? '' : key },
  choose: (pair) => { const [key, name] = pair.split(':'); state[key] = name; state.menu = '' }, tab: (name) => { state.tab = name }, dark: () => { state.dark = !state.dark },
  add: (key) => { state.board[key].push(`Note ${state.board[key].length + 1}`) }, page: (n) => { state.page = Number(n) }, stars: (n) => { state.stars = Number(n) },
  fold: (name) => { state.collapsed = toggle(state.collapsed, name) }, dialog: () => { state.dialog = true }, close: () => { state.dialog = false }, keep: () => {},
}
document.addEventListener('click', (event) => {
  const hit = event.target.closest('[data-act]')
  if (!hit || hit.dataset.act === 'keep') return
  ACTS[hit.dataset.act](hit.dataset.arg)
  render()
})
document.addEventListener('input', (event) => {
  if (!event.target.matches('.search')) return
  state.filter = event.target.value
  render()
  const field = document.querySelector('.search')
  field.focus()
  field.setSelectionRange(field.value.length, field.value.length)
})
let dragged = ''
document.addEventListener('dragstart', (event) => { dragged = event.target.textContent })
document.addEventListener('dragover', (event) => { if (event.target.closest('[data-drop]')) event.preventDefault() })
document.addEventListener('drop', (event) => {
  const column = event.target.closest('[data-drop]')
  if (!column || !dragged) return
  for (const key of Object.keys(state.board)) state.board[key] = state.board[key].filter((name) => name !== dragged)
  state.board[column.dataset.drop].push(dragged)
  render()
})
render()
