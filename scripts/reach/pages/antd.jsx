import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import {
  Alert, AutoComplete, Avatar, Breadcrumb, Button, Calendar, Card, Carousel, Cascader, Checkbox, Collapse, ColorPicker,
  ConfigProvider, DatePicker, Drawer, Dropdown, Input, InputNumber, List, Mentions, Menu, Modal, Pagination, Popconfirm,
  Popover, Radio, Rate, Segmented, Select, Slider, Space, Steps, Switch, Table, Tabs, Tag, Timeline, Tooltip, Transfer,
  Tree, TreeSelect, Upload,
} from 'antd'
import dayjs from 'dayjs'

const Section = ({ title, children }) => <section className="card"><h3>{title}</h3>{children}</section>
const PEOPLE = ['Ada', 'Bela', 'Cora', 'Dan']
const BRANCHES = ['Fruit', 'Nuts'].map((n) => ({ title: n, key: n, value: n, label: n, children: [1, 2].map((i) => ({ title: `${n} ${i}`, key: n + i, value: n + i, label: `${n} ${i}` })) }))
const options = (names) => names.map((n) => ({ value: n, label: n }))

function Menus() {
  const [said, say] = useState('nothing')
  const items = ['Edit', 'Copy', 'Share'].map((n) => ({ key: n, label: n }))
  return <Section title="Menus">
    <Space wrap><Dropdown trigger={['click']} menu={{ items, onClick: ({ key }) => say(key) }}><a>More</a></Dropdown>
      <Dropdown.Button menu={{ items, onClick: ({ key }) => say(key) }} onClick={() => say('main')}>Split</Dropdown.Button>
      <Popconfirm title="Sure?" onConfirm={() => say('sure')}><Button danger>Delete</Button></Popconfirm>
      <Popover trigger="click" content={<span onClick={() => say('inside')}>Inside, no hand</span>}><Button>Popover</Button></Popover></Space>
    <Menu mode="inline" style={{ width: '100%' }} onClick={({ key }) => say(key)} items={[{ key: 'inbox', label: 'Inbox' }, { key: 'more', label: 'More', children: [{ key: 'spam', label: 'Spam' }] }]} />
    <Menu mode="horizontal" onClick={({ key }) => say(key)} items={['Near', 'Far'].map((n) => ({ key: n, label: n }))} />
    <p>Said {said}</p>
  </Section>
}

function Fields() {
  return <Section title="Fields"><Space direction="vertical" style={{ width: '100%' }}>
    <Input placeholder="Name" allowClear defaultValue="Ada" /><Input.Password placeholder="Secret" /><Input.Search placeholder="Search" />
    <InputNumber defaultValue={3} /><Select style={{ width: '100%' }} placeholder="Town" options={options(['Aachen', 'Berlin', 'Cottbus'])} />
    <Select mode="multiple" style={{ width: '100%' }} defaultValue={['Red']} allowClear options={options(['Red', 'Green', 'Blue'])} />
    <AutoComplete style={{ width: '100%' }} placeholder="Fruit" options={options(['Apple', 'Banana'])} />
    <Cascader style={{ width: '100%' }} placeholder="Cascade" options={BRANCHES} />
    <TreeSelect style={{ width: '100%' }} placeholder="Branch" treeData={BRANCHES} />
    <DatePicker defaultValue={dayjs('2026-03-10')} /><DatePicker.RangePicker />
    <Mentions placeholder="Mention" options={options(PEOPLE)} /><ColorPicker defaultValue="#1677ff" />
    <Upload><Button>Upload</Button></Upload>
  </Space></Section>
}

function Choices() {
  return <Section title="Choices">
    <Checkbox defaultChecked>Subscribe</Checkbox><Checkbox disabled>Not for you</Checkbox><Switch aria-label="Dark" />
    <Radio.Group defaultValue="s" options={options(['s', 'm', 'l'])} /><Radio.Group defaultValue="a" optionType="button" options={options(['a', 'b'])} />
    <Checkbox.Group options={options(['one', 'two'])} />
    <Segmented options={['Day', 'Week', 'Month']} /><Rate defaultValue={2} /><Slider defaultValue={30} /><Slider range marks={{ 0: '0', 50: '50', 100: '100' }} defaultValue={[20, 60]} />
  </Section>
}

function Rows() {
  const [row, setRow] = useState('')
  const columns = [{ title: 'Name', dataIndex: 'name', sorter: (a, b) => (a.name < b.name ? -1 : 1), filters: [{ text: 'Ada', value: 'Ada' }], onFilter: (v, r) => r.name === v }, { title: 'Age', dataIndex: 'age' }]
  return <Section title="Rows">
    <Table size="small" columns={columns} dataSource={PEOPLE.map((name) => ({ key: name, name, age: 30 + name.length }))} rowSelection={{}} pagination={{ pageSize: 3, size: 'small' }}
      expandable={{ expandedRowRender: (r) => <i>{r.name} is a person</i> }} onRow={(r) => ({ onClick: () => setRow(r.name) })} />
    <p>Row {row}</p>
  </Section>
}

function Panels() {
  const [modal, setModal] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const [alert, setAlert] = useState(true)
  return <Section title="Panels">
    <Button onClick={() => setModal(true)}>Dialog</Button><Button onClick={() => setDrawer(true)}>Drawer</Button>
    <Modal transitionName="" maskTransitionName="" title="Sure?" open={modal} onOk={() => setModal(false)} onCancel={() => setModal(false)}><Input placeholder="Why" /><Checkbox>Always</Checkbox></Modal>
    <Drawer title="Drawer" open={drawer} onClose={() => setDrawer(false)}><Menu items={['Inbox', 'Sent'].map((n) => ({ key: n, label: n }))} /></Drawer>
    <Collapse size="small" items={['First', 'Second'].map((n) => ({ key: n, label: n, children: <Button size="small">In {n}</Button> }))} />
    {alert && <Alert message="Note" closable onClose={() => setAlert(false)} />}
  </Section>
}

function Navigation() {
  const [step, setStep] = useState(0)
  return <Section title="Navigation">
    <Tabs size="small" items={['One', 'Two', 'Three'].map((n) => ({ key: n, label: n, children: `Tab ${n}` }))} />
    <Tabs size="small" type="editable-card" items={['X', 'Y'].map((n) => ({ key: n, label: n }))} />
    <Steps size="small" current={step} onChange={setStep} items={['A', 'B', 'C'].map((title) => ({ title }))} />
    <Pagination size="small" defaultCurrent={1} total={50} showSizeChanger showQuickJumper />
    <Breadcrumb items={[{ title: <a href="#home">Home</a> }, { title: 'Tools', onClick: () => setStep(2), className: 'crumb' }, { title: 'Saws' }]} />
  </Section>
}

function Lists() {
  const [said, say] = useState('')
  const [target, setTarget] = useState(['Dan'])
  return <Section title="Lists">
    <List size="small" dataSource={PEOPLE} renderItem={(n) => <List.Item onClick={() => say(n)} actions={[<a key="x" onClick={(e) => { e.stopPropagation(); say(`-${n}`) }}>drop</a>]}>{n}</List.Item>} />
    <Tree treeData={BRANCHES} checkable />
    <Transfer listStyle={{ width: 110, height: 160 }} dataSource={PEOPLE.map((n) => ({ key: n, title: n }))} targetKeys={target} onChange={setTarget} render={(i) => i.title} />
    <p>Said {said}</p>
  </Section>
}

function Chips() {
  const [left, setLeft] = useState(PEOPLE)
  const [on, setOn] = useState('')
  return <Section title="Chips">
    {left.map((n) => <Tag key={n} closable onClose={() => setLeft(left.filter((x) => x !== n))}>{n}</Tag>)}
    {['News', 'Sport'].map((n) => <Tag.CheckableTag key={n} checked={on === n} onChange={() => setOn(n)}>{n}</Tag.CheckableTag>)}
    <Tooltip title="Love it"><Button shape="circle" onClick={() => setOn('love')}>♥</Button></Tooltip>
    <span onClick={() => setOn('avatar')}><Avatar>A</Avatar></span>
    <Card size="small" hoverable onClick={() => setOn('card')}>A card that reacts</Card>
    <Timeline items={[{ children: <a href="#t1">Made</a> }, { children: 'Sold' }]} />
    <p>On {on}</p>
  </Section>
}

const Month = () => <Section title="Month"><Calendar fullscreen={false} defaultValue={dayjs('2026-03-10')} /></Section>

createRoot(document.getElementById('root')).render(<ConfigProvider theme={{ token: { motion: false } }} wave={{ disabled: true }}>
  <div className="cards"><Menus /><Fields /><Choices /><Rows /><Panels /><Navigation /><Lists /><Chips /><Month /></div>
</ConfigProvider>)
