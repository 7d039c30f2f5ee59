import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import {
  Accordion, AccordionDetails, AccordionSummary, Alert, AppBar, Autocomplete, Avatar, Badge, BottomNavigation,
  BottomNavigationAction, Breadcrumbs, Button, ButtonGroup, Card, CardActionArea, CardContent, Checkbox, Chip, Dialog,
  DialogActions, DialogContent, DialogTitle, Drawer, Fab, FormControl, FormControlLabel, IconButton, ImageList,
  ImageListItem, InputLabel, Link, List, ListItem, ListItemButton, ListItemText, Menu, MenuItem, Pagination, Popover,
  Radio, RadioGroup, Rating, Select, Slider, Snackbar, SpeedDial, SpeedDialAction, Stack, Step, StepButton, Stepper,
  Switch, Tab, Table, TableBody, TableCell, TableHead, TableRow, TableSortLabel, Tabs, TextField, ToggleButton,
  ToggleButtonGroup, Toolbar, Tooltip, Typography, createTheme, ThemeProvider,
} from '@mui/material'
import { SimpleTreeView, TreeItem } from '@mui/x-tree-view'

const PEOPLE = ['Ada', 'Bela', 'Cora', 'Dan']
const theme = createTheme({ transitions: { create: () => 'none' } })
const Section = ({ title, children }) => <section className="card"><h3>{title}</h3>{children}</section>
const Glyph = ({ shape }) => <svg width="20" height="20" viewBox="0 0 20 20"><path d={shape} /></svg>
const CROSS = 'M4 4L16 16M16 4L4 16', DOTS = 'M9 3h2v2h-2zM9 9h2v2h-2zM9 15h2v2h-2z', HEART = 'M10 17L3 9a4 4 0 017-4 4 4 0 017 4z'

function Menus() {
  const [anchor, setAnchor] = useState(null)
  const [chosen, setChosen] = useState('nothing')
  const [pop, setPop] = useState(null)
  const choose = (name) => () => { setChosen(name); setAnchor(null) }
  return <Section title="Menus">
    <IconButton aria-label="More" onClick={(e) => setAnchor(e.currentTarget)}><Glyph shape={DOTS} /></IconButton>
    <Menu anchorEl={anchor} open={Boolean(anchor)} onClose={() => setAnchor(null)}>
      {['Edit', 'Copy', 'Share', 'Archive'].map((name) => <MenuItem key={name} onClick={choose(name)}>{name}</MenuItem>)}
      <MenuItem disabled>Locked</MenuItem>
    </Menu>
    <Button onClick={(e) => setPop(e.currentTarget)}>Popover</Button>
    <Popover anchorEl={pop} open={Boolean(pop)} onClose={() => setPop(null)}>
      <Typography sx={{ p: 2 }}>Inside <Link href="#pop">a link</Link> <span style={{ cursor: 'pointer' }} onClick={() => setChosen('plain span')}>plain span</span></Typography>
    </Popover>
    <p>Chose {chosen}</p>
  </Section>
}

function Rows() {
  const [selected, setSelected] = useState('')
  const [order, setOrder] = useState('asc')
  const rows = order === 'asc' ? PEOPLE : [...PEOPLE].reverse()
  return <Section title="Rows"><Table size="small">
    <TableHead><TableRow>
      <TableCell><TableSortLabel active direction={order} onClick={() => setOrder(order === 'asc' ? 'desc' : 'asc')}>Name</TableSortLabel></TableCell>
      <TableCell>Age</TableCell>
    </TableRow></TableHead>
    <TableBody>{rows.map((name, n) =>
      <TableRow key={name} hover selected={selected === name} onClick={() => setSelected(name)} sx={{ cursor: n % 2 ? 'pointer' : 'default' }}>
        <TableCell>{name}</TableCell><TableCell>{30 + name.length}</TableCell>
      </TableRow>)}
    </TableBody>
  </Table></Section>
}

function Choices() {
  const [size, setSize] = useState('m')
  const [several, setSeveral] = useState(['bold'])
  return <Section title="Choices">
    <FormControlLabel control={<Checkbox defaultChecked />} label="Subscribe" />
    <FormControlLabel control={<Switch />} label="Dark" />
    <FormControlLabel disabled control={<Checkbox />} label="Not for you" />
    <RadioGroup row defaultValue="s">{['s', 'm', 'l'].map((v) => <FormControlLabel key={v} value={v} control={<Radio size="small" />} label={v} />)}</RadioGroup>
    <ToggleButtonGroup size="small" exclusive value={size} onChange={(e, v) => setSize(v)}>{['s', 'm', 'l'].map((v) => <ToggleButton key={v} value={v}>{v}</ToggleButton>)}</ToggleButtonGroup>
    <ToggleButtonGroup size="small" value={several} onChange={(e, v) => setSeveral(v)}>{['bold', 'italic'].map((v) => <ToggleButton key={v} value={v} aria-label={v}>{v[0]}</ToggleButton>)}</ToggleButtonGroup>
    <Rating name="stars" defaultValue={2} />
    <Slider defaultValue={30} aria-label="Volume" />
    <Slider defaultValue={[20, 60]} marks step={10} />
  </Section>
}

function Fields() {
  const [town, setTown] = useState('')
  return <Section title="Fields">
    <TextField size="small" label="Name" fullWidth margin="dense" />
    <TextField size="small" label="Notes" multiline rows={2} fullWidth margin="dense" />
    <FormControl size="small" fullWidth margin="dense"><InputLabel id="l">Town</InputLabel>
      <Select labelId="l" label="Town" value={town} onChange={(e) => setTown(e.target.value)}>{['Aachen', 'Berlin', 'Cottbus'].map((t) => <MenuItem key={t} value={t}>{t}</MenuItem>)}</Select>
    </FormControl>
    <Autocomplete size="small" options={['Apple', 'Banana', 'Cherry']} renderInput={(p) => <TextField {...p} label="Fruit" margin="dense" />} />
    <Autocomplete size="small" multiple options={['Red', 'Green', 'Blue']} defaultValue={['Red']} renderInput={(p) => <TextField {...p} label="Colours" margin="dense" />} />
    <Button component="label" variant="outlined" size="small">Upload<input type="file" hidden /></Button>
  </Section>
}

function Chips() {
  const [left, setLeft] = useState(PEOPLE)
  const [picked, setPicked] = useState('')
  return <Section title="Chips">
    {left.map((n) => <Chip key={n} size="small" label={n} onDelete={() => setLeft(left.filter((x) => x !== n))} />)}
    {['News', 'Sport'].map((n) => <Chip key={n} size="small" label={n} clickable color={picked === n ? 'primary' : 'default'} onClick={() => setPicked(n)} />)}
    <Badge badgeContent={4}><Avatar sx={{ cursor: 'pointer' }} onClick={() => setPicked('avatar')}>A</Avatar></Badge>
  </Section>
}

function Panels() {
  const [dialog, setDialog] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const [snack, setSnack] = useState(false)
  return <Section title="Panels">
    <Button onClick={() => setDialog(true)}>Dialog</Button><Button onClick={() => setDrawer(true)}>Drawer</Button><Button onClick={() => setSnack(true)}>Toast</Button>
    <Dialog open={dialog} onClose={() => setDialog(false)}><DialogTitle>Sure?</DialogTitle>
      <DialogContent><TextField size="small" label="Why" margin="dense" /><FormControlLabel control={<Checkbox />} label="Always" /></DialogContent>
      <DialogActions><Button onClick={() => setDialog(false)}>No</Button><Button onClick={() => setDialog(false)}>Yes</Button></DialogActions></Dialog>
    <Drawer open={drawer} onClose={() => setDrawer(false)}><List sx={{ width: 200 }}>{['Inbox', 'Sent', 'Spam'].map((n) => <ListItemButton key={n} onClick={() => setDrawer(false)}><ListItemText primary={n} /></ListItemButton>)}</List></Drawer>
    <Snackbar open={snack} onClose={() => setSnack(false)} message="Saved" action={<Button size="small" onClick={() => setSnack(false)}>Undo</Button>} />
    {['First', 'Second'].map((n) => <Accordion key={n} disableGutters><AccordionSummary>{n}</AccordionSummary><AccordionDetails><Button size="small">In {n}</Button></AccordionDetails></Accordion>)}
    <Alert severity="info" onClose={() => setSnack(true)}>Note</Alert>
  </Section>
}

function Navigation() {
  const [tab, setTab] = useState(0)
  const [step, setStep] = useState(0)
  const [place, setPlace] = useState(0)
  const [page, setPage] = useState(1)
  return <Section title="Navigation">
    <Tabs value={tab} onChange={(e, v) => setTab(v)}>{['One', 'Two', 'Three'].map((n) => <Tab key={n} label={n} sx={{ minWidth: 60 }} />)}</Tabs>
    <p>Tab {tab}, page {page}</p>
    <Stepper nonLinear activeStep={step}>{['A', 'B', 'C'].map((n, i) => <Step key={n}><StepButton onClick={() => setStep(i)}>{n}</StepButton></Step>)}</Stepper>
    <Pagination size="small" count={5} page={page} onChange={(e, v) => setPage(v)} />
    <Breadcrumbs><Link href="#home">Home</Link><Link component="button" onClick={() => setTab(2)}>Tools</Link><span>Saws</span></Breadcrumbs>
    <BottomNavigation showLabels value={place} onChange={(e, v) => setPlace(v)}>{['Near', 'Far'].map((n) => <BottomNavigationAction key={n} label={n} icon={<Glyph shape={HEART} />} />)}</BottomNavigation>
  </Section>
}

function Lists() {
  const [picked, setPicked] = useState('')
  const [liked, setLiked] = useState([])
  return <Section title="Lists">
    <List dense>{PEOPLE.map((n) => <ListItem key={n} disablePadding secondaryAction={<IconButton edge="end" size="small" aria-label={`Remove ${n}`} onClick={() => setPicked(`-${n}`)}><Glyph shape={CROSS} /></IconButton>}>
      <ListItemButton selected={picked === n} onClick={() => setPicked(n)}><ListItemText primary={n} secondary="a person" /></ListItemButton></ListItem>)}</List>
    <SimpleTreeView>{['Fruit', 'Nuts'].map((n) => <TreeItem key={n} itemId={n} label={n}><TreeItem itemId={n + 1} label={`${n} 1`} /></TreeItem>)}</SimpleTreeView>
    <ImageList cols={3} rowHeight={40}>{PEOPLE.slice(0, 3).map((n) => <ImageListItem key={n} onClick={() => setLiked([...liked, n])}><img alt={`Photo of ${n}`} style={{ background: '#9bd', height: 40 }} /></ImageListItem>)}</ImageList>
    <Card variant="outlined"><CardActionArea onClick={() => setLiked([])}><CardContent><b>Card</b><br />{liked.length} liked</CardContent></CardActionArea></Card>
  </Section>
}

function Buttons() {
  const [count, setCount] = useState(0)
  const up = () => setCount(count + 1)
  return <Section title="Buttons">
    <Stack direction="row" spacing={1}><Button variant="contained" onClick={up}>{count}</Button><Tooltip title="Love it"><IconButton onClick={up}><Glyph shape={HEART} /></IconButton></Tooltip><Fab size="small" aria-label="add" onClick={up}>+</Fab></Stack>
    <ButtonGroup size="small">{['L', 'M', 'R'].map((n) => <Button key={n} onClick={up}>{n}</Button>)}</ButtonGroup>
    <div onClick={up} style={{ cursor: 'pointer' }}>A plain box that counts</div>
    <div onClick={up}>A plain box that counts, without a hand</div>
    <div style={{ height: 50, position: 'relative' }}><SpeedDial ariaLabel="Speed" direction="right" icon={<Glyph shape={DOTS} />} FabProps={{ size: 'small' }}>{['x', 'y'].map((n) => <SpeedDialAction key={n} tooltipTitle={n} icon={<b>{n}</b>} onClick={up} />)}</SpeedDial></div>
  </Section>
}

createRoot(document.getElementById('root')).render(<ThemeProvider theme={theme}>
  <AppBar position="static"><Toolbar variant="dense"><IconButton color="inherit" aria-label="menu"><Glyph shape={DOTS} /></IconButton><Typography sx={{ flexGrow: 1 }}>Material</Typography><Button color="inherit">Log in</Button></Toolbar></AppBar>
  <div className="cards"><Menus /><Fields /><Choices /><Rows /><Chips /><Panels /><Navigation /><Lists /><Buttons /></div>
</ThemeProvider>)
