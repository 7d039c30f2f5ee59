// Every page works without this; with it, it is quicker.
import "./web.js";
