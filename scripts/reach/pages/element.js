import { createApp } from 'vue/dist/vue.esm-bundler.js'
import ElementPlus from 'element-plus'
import 'element-plus/dist/index.css'

const PEOPLE = ['Ada', 'Bela', 'Cora', 'Dan']
const BRANCHES = ['Fruit', 'Nuts'].map((n) => ({ label: n, value: n, children: [1, 2].map((i) => ({ label: `${n} ${i}`, value: n + i })) }))

createApp({
  data: () => ({
    PEOPLE, BRANCHES, said: 'nothing', name: 'Ada', secret: '', notes: '', number: 3, town: '', colours: ['Red'], fruit: '', branch: [], tree: '', day: '2026-03-10', range: [], time: '', colour: '#409eff',
    subscribe: true, some: ['one'], size: 's', side: 'L', dark: false, rate: 2, volume: 30, between: [20, 60], seg: 'Day', tab: 'One', step: 0, page: 1, open: [], dialog: false, drawer: false, left: PEOPLE.slice(), moved: ['Dan'], transfer: PEOPLE.map((n) => ({ key: n, label: n })),
    rows: PEOPLE.map((n) => ({ name: n, age: 30 + n.length })), suggest: (q, done) => done(['Apple', 'Banana'].map((value) => ({ value }))), month: new Date(2026, 2, 10), options: ['Red', 'Green', 'Blue'], towns: ['Aachen', 'Berlin', 'Cottbus'],
  }),
  template: `<div class="cards">
<section class="card"><h3>Menus</h3>
  <el-dropdown trigger="click" @command="said = $event"><span class="el-dropdown-link">More</span><template #dropdown><el-dropdown-menu><el-dropdown-item v-for="n in ['Edit', 'Copy', 'Share']" :key="n" :command="n">{{ n }}</el-dropdown-item><el-dropdown-item disabled>Locked</el-dropdown-item></el-dropdown-menu></template></el-dropdown>
  <el-popconfirm title="Sure?" @confirm="said = 'sure'"><template #reference><el-button size="small" type="danger">Delete</el-button></template></el-popconfirm>
  <el-popover trigger="click" content="words"><template #reference><el-button size="small">Popover</el-button></template><span @click="said = 'inside'">Inside, no hand</span></el-popover>
  <el-menu default-active="1" @select="said = $event"><el-menu-item index="1">Inbox</el-menu-item><el-sub-menu index="2"><template #title>More</template><el-menu-item index="2-1">Spam</el-menu-item></el-sub-menu></el-menu>
  <el-menu mode="horizontal" :ellipsis="false" @select="said = $event"><el-menu-item index="near">Near</el-menu-item><el-menu-item index="far">Far</el-menu-item></el-menu><p>Said {{ said }}</p></section>
<section class="card"><h3>Fields</h3>
  <el-input v-model="name" clearable placeholder="Name" /><el-input v-model="secret" type="password" show-password placeholder="Secret" /><el-input v-model="notes" type="textarea" placeholder="Notes" /><el-input-number v-model="number" />
  <el-select v-model="town" placeholder="Town"><el-option v-for="t in towns" :key="t" :label="t" :value="t" /></el-select><el-select v-model="colours" multiple><el-option v-for="t in options" :key="t" :label="t" :value="t" /></el-select>
  <el-autocomplete v-model="fruit" :fetch-suggestions="suggest" placeholder="Fruit" /><el-cascader v-model="branch" :options="BRANCHES" placeholder="Cascade" /><el-tree-select v-model="tree" :data="BRANCHES" placeholder="Branch" />
  <el-date-picker v-model="day" type="date" style="width: 100%" /><el-date-picker v-model="range" type="daterange" style="width: 90%" /><el-time-select v-model="time" placeholder="Time" /><el-color-picker v-model="colour" /><el-upload action="#"><el-button size="small">Upload</el-button></el-upload></section>
<section class="card"><h3>Choices</h3>
  <el-checkbox v-model="subscribe">Subscribe</el-checkbox><el-checkbox disabled>Not for you</el-checkbox><el-checkbox-group v-model="some"><el-checkbox value="one">one</el-checkbox><el-checkbox value="two">two</el-checkbox></el-checkbox-group>
  <el-radio-group v-model="size"><el-radio v-for="v in ['s', 'm', 'l']" :key="v" :value="v">{{ v }}</el-radio></el-radio-group><el-radio-group v-model="side" size="small"><el-radio-button v-for="v in ['L', 'M', 'R']" :key="v" :value="v">{{ v }}</el-radio-button></el-radio-group>
  <el-switch v-model="dark" aria-label="Dark" /><el-rate v-model="rate" /><el-slider v-model="volume" /><el-slider v-model="between" range :marks="{ 0: '0', 50: '50' }" /><el-segmented v-model="seg" :options="['Day', 'Week', 'Month']" /></section>
<section class="card"><h3>Rows</h3><el-table :data="rows" size="small" @row-click="said = $event.name" highlight-current-row><el-table-column type="selection" width="30" /><el-table-column type="expand" width="30"><template #default="p">{{ p.row.name }} is a person</template></el-table-column><el-table-column prop="name" label="Name" sortable /><el-table-column prop="age" label="Age" /></el-table></section>
<section class="card"><h3>Panels</h3><el-button @click="dialog = true">Dialog</el-button><el-button @click="drawer = true">Drawer</el-button>
  <el-dialog v-model="dialog" title="Sure?" width="360"><el-input placeholder="Why" /><el-checkbox>Always</el-checkbox><template #footer><el-button @click="dialog = false">No</el-button><el-button type="primary" @click="dialog = false">Yes</el-button></template></el-dialog>
  <el-drawer v-model="drawer" title="Drawer"><el-menu><el-menu-item index="a">Inbox</el-menu-item><el-menu-item index="b">Sent</el-menu-item></el-menu></el-drawer>
  <el-collapse v-model="open"><el-collapse-item v-for="n in ['First', 'Second']" :key="n" :title="n" :name="n"><el-button size="small">In {{ n }}</el-button></el-collapse-item></el-collapse><el-alert title="Note" /></section>
<section class="card"><h3>Navigation</h3><el-tabs v-model="tab"><el-tab-pane v-for="n in ['One', 'Two', 'Three']" :key="n" :label="n" :name="n">Tab {{ n }}</el-tab-pane></el-tabs><el-tabs type="card" closable><el-tab-pane v-for="n in ['X', 'Y']" :key="n" :label="n" :name="n" /></el-tabs>
  <el-steps :active="step" simple><el-step v-for="(n, i) in ['A', 'B', 'C']" :key="n" :title="n" @click="step = i" /></el-steps><el-pagination v-model:current-page="page" small layout="prev, pager, next, sizes" :total="50" /><el-breadcrumb><el-breadcrumb-item><a href="#home">Home</a></el-breadcrumb-item><el-breadcrumb-item><span @click="said = 'tools'">Tools</span></el-breadcrumb-item></el-breadcrumb><el-page-header @back="said = 'back'" content="Detail" /></section>
<section class="card"><h3>Lists</h3><ul class="items"><li v-for="n in PEOPLE" :key="n" @click="said = n">{{ n }} <a @click.stop="said = '-' + n">drop</a></li></ul><el-tree :data="BRANCHES" show-checkbox /><div class="pane"><el-scrollbar><p v-for="n in 12" :key="n" @click="said = 'line ' + n" style="margin: 2px">Line {{ n }}</p></el-scrollbar></div></section>
<section class="card"><h3>Chips</h3><el-tag v-for="n in left" :key="n" closable @close="left = left.filter((x) => x !== n)">{{ n }}</el-tag><el-check-tag v-for="n in ['News', 'Sport']" :key="n" :checked="said === n" @change="said = n">{{ n }}</el-check-tag><el-tooltip content="Love it"><el-button circle @click="said = 'love'">♥</el-button></el-tooltip><el-avatar @click="said = 'avatar'">A</el-avatar><el-card shadow="hover" @click="said = 'card'">A card that reacts</el-card><el-link href="#link">Link</el-link><el-badge :value="3"><el-button size="small">News</el-button></el-badge><el-carousel height="60px" :autoplay="false"><el-carousel-item v-for="n in 3" :key="n">Slide {{ n }}</el-carousel-item></el-carousel></section>
<section class="card"><h3>Month</h3><el-calendar v-model="month" /></section></div>`,
}).use(ElementPlus).mount('#root')
