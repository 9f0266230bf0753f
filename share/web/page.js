// The page: takes photos from files, the clipboard, the camera, and shows what the model says. The work is done in worker.js.
import { showCard } from "./card.js";

const MOST_SHOWN = 5;
const MOST_PHOTOS = 200;  // of the list: each keeps its file
const $ = (id) => document.getElementById(id);
const whole = (fraction) => `${Math.round(100 * fraction)}\u00a0%`;
const percent = (fraction) => (fraction > 0.995 && fraction < 1 ? ">\u00a099\u00a0%" : fraction > 0 && fraction < 0.005 ? "<\u00a01\u00a0%" : whole(fraction));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

let settings = null;
let ready = false;
let photos = [];    // { file, address, answer, button }
let chosen = null;
let everything = false;  // all classes are shown
let stream = null;
let shownAnswer = null;

// --- the worker ---------------------------------------------------------------------------------------------------
const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let nextId = 0;

function ask(question, transfer = []) {
  return new Promise((resolve, reject) => {
    waiting.set(++nextId, { resolve, reject });
    worker.postMessage({ ...question, id: nextId }, transfer);
  });
}

function state(kind, text) {
  $("state").querySelector(".dot").className = `dot ${kind}`;
  $("state-text").textContent = text;
}

const failed = (error) => state("bad", `The model cannot be loaded: ${error}`);

worker.onerror = (event) => failed(event.message || "this browser cannot run it; it takes one of the last three years");
worker.onmessage = ({ data }) => {
  if (data.kind === "progress") {
    state("busy", `Loading the model: ${megabytes(data.loaded)} of ${megabytes(data.total)}`);
  } else if (data.kind === "ready") {
    ready = true;
    state("good", "Ready");
    document.documentElement.dataset.ready = "true";
  } else if (data.kind === "failed") {
    failed(data.error);
  } else if (data.kind === "answer") {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error));
    else resolve(understand(data));
  }
};

// The classes by falling probability, and whether the photo is rejected as unknown.
function understand({ probabilities, score, milliseconds }) {
  const ranked = Array.from(probabilities, (probability, i) => ({ name: settings.classes[i], probability }));
  ranked.sort((a, b) => b.probability - a.probability);
  return { ranked, score, milliseconds, unknown: settings.unknown_threshold !== null && score < settings.unknown_threshold };
}

// --- the answer ---------------------------------------------------------------------------------------------------
const element = (name, className, text) => { const made = document.createElement(name); made.className = className; made.textContent = text; return made; };

function verdict(answer) {
  const line = element("p", "verdict", answer.unknown ? "Unknown" : answer.ranked[0].name);
  if (!answer.unknown) line.append(" ", element("span", "dim", percent(answer.ranked[0].probability)));
  const lines = [line];
  if (answer.unknown) lines.push(element("p", "dim", "Probably none of the classes that the model knows. If it had to be one of them:"));
  return lines;
}

// With what is given, so that a live picture does not make elements anew 20 times a second.
function showBars(answer) {
  const wanted = everything ? answer.ranked : answer.ranked.slice(0, MOST_SHOWN);
  const list = $("bars");
  while (list.children.length > wanted.length) list.lastChild.remove();
  while (list.children.length < wanted.length) {
    const item = document.createElement("li");
    const bar = element("span", "bar", "");
    bar.setAttribute("aria-hidden", "true");
    bar.append(document.createElement("span"));
    item.append(element("span", "name", ""), element("span", "value", ""), bar);
    list.append(item);
  }
  wanted.forEach(({ name, probability }, i) => {
    const item = list.children[i];
    item.dataset.probability = probability;
    item.querySelector(".name").textContent = name;
    item.querySelector(".value").textContent = percent(probability);
    item.querySelector(".bar span").style.width = `${Math.max(0.5, 100 * probability)}%`;
  });
  list.classList.toggle("unknown", answer.unknown);
  list.hidden = false;
  $("more").hidden = answer.ranked.length <= MOST_SHOWN;
  $("more").textContent = everything ? `Show the first ${MOST_SHOWN}` : `Show all ${answer.ranked.length} classes`;
}

function show(answer) {
  shownAnswer = answer;
  const box = $("answer");
  box.replaceChildren(...verdict(answer));
  box.dataset.score = answer.score;
  box.dataset.unknown = answer.unknown;
  box.dataset.milliseconds = answer.milliseconds;
  showBars(answer);
  $("rule").hidden = settings.unknown_threshold === null;
  if (settings.unknown_threshold === null) return;
  const caught = settings.catch_rate === null ? "" : ` Of photos like none of its classes, but of the same kind, it catches about ${whole(settings.catch_rate)}, as estimated from its training photos.`;
  $("rule-text").textContent = `A photo counts as unknown if its score is below ${settings.unknown_threshold.toFixed(3)}: about ${whole(settings.false_reject)} of photos of classes that the model knows score less.${caught} The score of this photo: ${answer.score.toFixed(3)}.`;
}

function clearAnswer(text, className = "dim") {
  shownAnswer = null;
  $("answer").replaceChildren(element("p", className, text));
  for (const key of ["score", "unknown", "milliseconds", "file"]) delete $("answer").dataset[key];
  for (const id of ["bars", "more", "rule"]) $(id).hidden = true;
}

$("more").onclick = () => { everything = !everything; if (shownAnswer) showBars(shownAnswer); };

// --- photos -------------------------------------------------------------------------------------------------------
function view(what) {
  for (const id of ["hint", "photo", "video"]) $(id).hidden = id !== what;
}

function choose(photo) {
  chosen = photo;
  for (const other of photos) other.button.setAttribute("aria-pressed", String(other === photo));
  $("photo").src = photo.address;
  view(photo.error ? "hint" : "photo");
  if (photo.error) clearAnswer(photo.error, "bad");
  else if (photo.answer) {
    show(photo.answer);
    $("answer").dataset.file = photo.file.name;
  } else clearAnswer(ready ? "Looking…" : "The model is still loading; the answer follows.");
}

function describe(photo) {
  const text = photo.error ? "cannot be read" : photo.answer ? (photo.answer.unknown ? "Unknown" : photo.answer.ranked[0].name) : "…";
  photo.button.querySelector(".name").textContent = text;
  photo.button.title = photo.file.name;
}

function makeButton(photo) {
  const button = element("button", "", "");
  button.type = "button";
  const small = document.createElement("img");
  small.src = photo.address;
  small.alt = photo.file.name;
  small.onerror = () => { small.remove(); };
  button.append(small, element("span", "name", "…"));
  button.onclick = () => { stopCamera(); choose(photo); };
  return button;
}

async function add(files) {
  if (files.length === 0) return;
  stopCamera();
  const added = files.map((file) => ({ file, address: URL.createObjectURL(file), answer: null, error: "" }));
  for (const photo of added) {
    photo.button = makeButton(photo);
    const item = document.createElement("li");
    item.append(photo.button);
    $("list").append(item);
  }
  photos.push(...added);
  while (photos.length > MOST_PHOTOS) {
    const gone = photos.shift();
    URL.revokeObjectURL(gone.address);
    gone.button.parentElement.remove();
  }
  $("others").hidden = photos.length < 2;
  choose(added[0]);
  for (const photo of added) {
    try {
      photo.answer = await ask({ kind: "file", file: photo.file });
    } catch (error) {
      photo.error = `${photo.file.name}: ${error.message}`;
    }
    describe(photo);
    if (chosen === photo && !stream) choose(photo);
  }
}

$("choose").onclick = () => $("pick").click();
$("pick").onchange = () => { const files = [...$("pick").files]; $("pick").value = ""; void add(files); };
const filesOf = (data) => [...(data?.files ?? [])];
document.addEventListener("paste", (event) => { void add(filesOf(event.clipboardData)); });
document.addEventListener("dragover", (event) => { event.preventDefault(); $("area").classList.add("over"); });
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("area").classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("area").classList.remove("over");
  void add(filesOf(event.dataTransfer));
});

// --- the camera ---------------------------------------------------------------------------------------------------
let facing = "environment";

function stopCamera() {
  stream?.getTracks().forEach((track) => track.stop());
  stream = null;
  $("video").srcObject = null;
  $("camera").textContent = "Use the camera";
  $("answer").setAttribute("aria-live", "polite");
  for (const id of ["keep", "turn"]) $(id).hidden = true;
  if (!$("video").hidden) view(chosen ? "photo" : "hint");
}

async function startCamera() {
  $("camera-note").textContent = "";
  if (!navigator.mediaDevices) {
    $("camera-note").textContent = "A browser gives the camera only to pages that come by https or from this machine itself.";
    return;
  }
  try {
    const opened = await navigator.mediaDevices.getUserMedia({ video: { facingMode: { ideal: facing }, width: { ideal: 1280 } } });
    stopCamera();
    stream = opened;
  } catch (error) {
    $("camera-note").textContent = `No camera: ${error instanceof Error ? error.message : error}`;
    return;
  }
  const mine = stream;
  $("video").srcObject = stream;
  view("video");
  $("camera").textContent = "Stop the camera";
  $("answer").setAttribute("aria-live", "off");  // it changes many times a second
  $("keep").hidden = false;
  clearAnswer(ready ? "Looking…" : "The model is still loading; the answer follows.");
  await $("video").play();
  $("turn").hidden = (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput").length < 2;
  while (stream === mine) {
    try {
      const frame = await createImageBitmap($("video"), { colorSpaceConversion: "none" });
      const answer = await ask({ kind: "frame", frame }, [frame]);
      if (stream === mine) show(answer);
    } catch (error) {
      if (stream === mine) clearAnswer(error.message, "bad");
      await new Promise((later) => setTimeout(later, 500));
    }
    await new Promise((later) => requestAnimationFrame(later));
  }
}

// The picture that the camera sees now, as a PNG file: the same pixels as the answer is about.
async function keep() {
  const video = $("video");
  if (!video.videoWidth) return;
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/png" });
  await add([new File([blob], `camera-${photos.length + 1}.png`, { type: "image/png" })]);
}

$("camera").onclick = () => {
  if (!stream) { void startCamera(); return; }
  stopCamera();
  if (chosen) choose(chosen);
  else clearAnswer("What the model says about a photo is shown here.");
};
$("keep").onclick = () => void keep();
$("turn").onclick = () => { facing = facing === "user" ? "environment" : "user"; void startCamera(); };

// --- without a network --------------------------------------------------------------------------------------------
async function keepForOffline() {
  if (!navigator.serviceWorker) return;
  const known = navigator.serviceWorker.controller !== null;  // a version was here before this visit
  const registration = await navigator.serviceWorker.register("service_worker.js");
  const offer = () => {
    if (!known || !registration.waiting) return;
    $("renew").hidden = false;
    $("renew").onclick = () => {
      navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
      registration.waiting?.postMessage("take over");
    };
  };
  offer();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", offer));
  await navigator.serviceWorker.ready;
  $("offline").textContent = "Works without a network on this device now.";
  document.documentElement.dataset.offline = "true";
}

// --- the start ----------------------------------------------------------------------------------------------------
async function get(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  return response;
}

async function start() {
  settings = await (await get("annulus.json")).json();
  $("classes").textContent = `${settings.classes.length} classes`;
  state("busy", "Loading the model…");
  worker.postMessage({ kind: "open", settings });
  showCard(await (await get("card.md")).text(), $("card"));
}

start().catch((error) => failed(error.message));
keepForOffline().catch(() => {});  // the page says that it needs a network
