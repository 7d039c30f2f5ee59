import { mount } from 'svelte'
import App from './carbon/App.svelte'
import 'carbon-components-svelte/css/white.css'

mount(App, { target: document.getElementById('root') })
