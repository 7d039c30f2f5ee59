// Every page works without these; with them it is quicker.
import "./web.js";
import "./suggest.js";
import "./more.js";
import "./votes.js";
import "./writing.js";
