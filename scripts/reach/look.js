// What the census asks of a page: which element lies under each point of a grid, what a click changed, and where a click
// on an id would land. Elements are named by their path, which is the same on every fresh copy of a page.
(() => {
  const pathOf = (element) => {
    const steps = []
    for (let node = element; node && node !== document.documentElement;) {
      const parent = node.parentNode
      steps.push(`${node.localName}:${parent ? Array.prototype.indexOf.call(parent.children, node) : 0}`)
      if (parent instanceof ShadowRoot) steps.push('#')
      node = parent instanceof ShadowRoot ? parent.host : parent
    }
    return steps.reverse().join('/')
  }
  const deepHit = (x, y) => {
    let hit = document.elementFromPoint(x, y)
    while (hit?.shadowRoot) {
      // Not `elementFromPoint`: over text in a slot it answers with the host.
      const [inner] = hit.shadowRoot.elementsFromPoint(x, y)
      if (!inner || inner === hit) break
      hit = inner
    }
    return whole(hit)
  }
  // The shapes of a drawing count as one.
  const whole = (element) => { while (element?.ownerSVGElement) element = element.ownerSVGElement; return element }
  const deepFocus = () => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element
  }

  // --- the state of the page ------------------------------------------------------------------------------
  const contentOf = (element) => {
    const parts = []
    for (const { name, value } of element.attributes) if (name !== 'bid' && !name.startsWith('browsergym')) parts.push(`${name}=${value.slice(0, 120)}`)
    parts.sort()
    for (const node of element.childNodes) if (node.nodeType === 3 && node.data.trim()) parts.push(node.data.trim().slice(0, 80))
    const tag = element.localName
    if (tag === 'input' || tag === 'textarea' || tag === 'select') parts.push(`value ${element.value} ${element.checked ?? ''} ${element.indeterminate ?? ''}`)
    if (tag === 'option') parts.push(`selected ${element.selected}`)
    return parts.join(' ')
  }
  const lines = () => {
    const found = new Map()
    const visit = (element, path) => {
      found.set(path, contentOf(element))
      if (element.shadowRoot) visitAll(element.shadowRoot, `${path}/#/`)
      visitAll(element, `${path}/`)
    }
    const visitAll = (parent, prefix) => { let at = 0; for (const child of parent.children) visit(child, `${prefix}${child.localName}:${at++}`) }
    visitAll(document.documentElement, '')
    return found
  }
  // What a person would notice, without classes, styles and places: how often each text, value and state can be seen.
  // A popup that is hidden and not removed has gone as well.
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) || getComputedStyle(element).display === 'contents'
  const meanings = () => {
    const found = new Map()
    const visit = (parent) => {
      for (const element of parent.children) {
        const parts = []
        for (const { name, value } of element.attributes) if (/^aria-(?!controls|owns|labelledby|describedby|activedescendant)|^(open|disabled|hidden)$/.test(name)) parts.push(`${name}=${value}`)
        for (const node of element.childNodes) if (node.nodeType === 3 && node.data.trim()) parts.push(node.data.trim().slice(0, 80))
        if (/^(input|textarea|select)$/.test(element.localName)) parts.push(`${element.name} ${element.value} ${element.checked ?? ''}`)
        if (parts.length && !/^(style|script)$/.test(element.localName) && shown(element)) { const line = `${element.localName} ${parts.join(' ')}`; found.set(line, (found.get(line) ?? 0) + 1) }
        if (element.shadowRoot) visit(element.shadowRoot)
        visit(element)
      }
    }
    visit(document.documentElement)
    return found
  }
  const isSlider = (element) => element.getAttribute('role') === 'slider' || element.type === 'range'
  const focusName = (element) => pathOf(element) + (isSlider(element) ? ' slider' : '')
  const facts = () => ({ url: location.href.replace(location.origin, ''), focus: focusName(deepFocus() ?? document.body), requests: performance.getEntriesByType('resource').map((entry) => entry.name.replace(location.origin, '')).join(' ') })
  let before = null
  let landed = ''
  addEventListener('mousedown', (event) => { landed ||= pathOf(whole(event.composedPath()[0])) }, true)
  const remember = () => { before = { lines: lines(), meanings: meanings(), ...facts() }; landed = '' }
  const changes = () => {
    const now = lines(), after = facts(), plus = [], minus = []
    for (const [path, content] of now) if (before.lines.get(path) !== content) plus.push(`${path} ${content}`)
    for (const path of before.lines.keys()) if (!now.has(path)) minus.push(path)
    const noticed = meanings(), meaning = []
    for (const [line, count] of noticed) if (before.meanings.get(line) !== count) meaning.push(`${count} ${line}`)
    for (const line of before.meanings.keys()) if (!noticed.has(line)) meaning.push(`0 ${line}`)
    const moved = (key) => (before[key] === after[key] ? '' : after[key].slice(-2000))
    return JSON.stringify({ plus, minus, meaning, url: moved('url'), focus: moved('focus'), requests: moved('requests'), landed })
  }

  // --- points -------------------------------------------------------------------------------------------
  let seenElements = new Set(), seenPaths = new Set()
  const swept = new Map()
  // Some rows of the grid: all at once would take a busy machine longer than a script may run.
  const sweep = (step, from, to) => {
    for (let y = from; y < Math.min(to, innerHeight); y += step) for (let x = step / 2; x < innerWidth; x += step) {
      const hit = deepHit(x, y)
      if (hit) swept.has(hit) ? swept.get(hit).push([x, y]) : swept.set(hit, [[x, y]])
    }
  }
  const LARGE = 16
  // Of the points that hit an element: the middle one; of what shows between the parts of a large one, two more.
  const chosen = (element, all) => {
    const [sumX, sumY] = all.reduce(([a, b], [x, y]) => [a + x, b + y], [0, 0])
    const far = ([x, y]) => Math.hypot(x - sumX / all.length, y - sumY / all.length)
    const middle = all.reduce((best, point) => (far(point) < far(best) ? point : best))
    return all.length < LARGE || !element.firstElementChild ? [middle] : [middle, all[0], all[all.length - 1]].filter((point, at, list) => list.indexOf(point) === at)
  }
  const describe = (element) => {
    const box = element.getBoundingClientRect()
    const words = (element.innerText ?? element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 40)
    const name = `${element.localName}${element.id ? '#' + element.id : ''}${typeof element.className === 'string' && element.className ? '.' + element.className.trim().split(/\s+/).slice(0, 2).join('.') : ''}`
    const cursor = getComputedStyle(element).cursor
    const plain = cursor !== 'pointer' && !element.closest('a, button, input, select, textarea, label, summary, option, [role=button], [role=option], [role^=menuitem], [role=tab]')
    return { says: words ? `${name} "${words}"` : name, area: box.width * box.height, cursor, plain }
  }
  // Without a grid, which takes too long for every click: what lies at the middle of each element.
  const middles = () => {
    const found = new Map()
    const visit = (parent) => {
      for (const element of parent.children) {
        const box = element.getBoundingClientRect()
        const x = box.x + box.width / 2, y = box.y + box.height / 2
        if (box.width > 0 && box.height > 0 && x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) {
          const hit = deepHit(x, y)
          if (hit && !found.has(hit)) found.set(hit, [[x, y]])
        }
        if (element.shadowRoot) visit(element.shadowRoot)
        visit(element)
      }
    }
    visit(document.documentElement)
    return found
  }
  const note = () => {
    seenElements = new Set(middles().keys())
    seenPaths = new Set([...seenElements].map(pathOf))
  }
  const grid = () => {
    // The smallest elements fall through the grid.
    for (const [element, points] of middles()) if (!swept.has(element)) swept.set(element, points)
    return JSON.stringify([...swept].map(([element, points]) => ({ path: pathOf(element), points: chosen(element, points), ...describe(element) })))
  }
  // What can be hit now and could not when `note` was called.
  const fresh = () => JSON.stringify([...middles()]
    .filter(([element]) => !seenElements.has(element) && !seenPaths.has(pathOf(element)))
    .map(([element, points]) => ({ path: pathOf(element), points, ...describe(element) })))

  // --- ids ----------------------------------------------------------------------------------------------
  const lands = (numbers) => JSON.stringify(numbers.map((number) => {
    const element = webassay.find(number)
    if (!element) return [number, '', '']
    const point = JSON.parse(webassay.locate(number, false, 'never'))
    return [number, pathOf(element), point.error ? '' : pathOf(deepHit(point.x, point.y)), point.error ?? '']
  }))
  // BrowserGym clicks the middle of the element's box, if what lies there belongs to it.
  const theirs = (bids) => JSON.stringify(bids.map((bid) => {
    const search = (root) => {
      const found = root.querySelector(`[bid="${bid}"]`)
      if (found) return found
      for (const host of root.querySelectorAll('*')) { const inner = host.shadowRoot && search(host.shadowRoot); if (inner) return inner }
      return null
    }
    const element = search(document)
    if (!element) return [bid, '', '']
    const box = element.getBoundingClientRect()
    const hit = deepHit(box.x + box.width / 2, box.y + box.height / 2)
    const inside = (node) => { for (; node; node = node.assignedSlot ?? node.parentNode ?? node.host) if (node === element) return true; return false }
    const label = hit?.closest?.('label')
    return [bid, pathOf(element), hit && (inside(hit) || label?.control === element) ? pathOf(hit) : '']
  }))

  globalThis.census = { remember, changes, note, sweep, grid, fresh, lands, theirs }
})()
