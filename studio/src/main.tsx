// Starts the page.
import { render } from "preact";
import { App } from "./app";
import { connect } from "./store";

connect();
render(<App />, document.getElementById("app") as HTMLElement);
