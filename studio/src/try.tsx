// Try the model on photos: label, probabilities, "unknown", and the training photos most like each.
import { useEffect, useRef, useState } from "preact/hooks";
import { largePhoto, ModelInfo, post, Predicted, Prediction, thumbnail } from "./api";
import { Camera } from "./camera";
import { ACCEPT, dropped, FORMATS, MOST_BYTES } from "./files";
import { rowKeys } from "./keys";
import { useShared, wrongWith } from "./store";
import { ViewedPhoto, viewAll } from "./viewer";

// A photo of the project is stored under its identifier.
const photoOf = (path: string) => path.replace(/^.*\//, "").replace(/\.[^.]*$/, "");
const percent = (fraction: number) => (fraction > 0.995 && fraction < 1 ? "> 99 %" : `${Math.round(100 * fraction)} %`);
const nameOf = (photo: Blob) => (photo instanceof File ? photo.name : "pasted photo");
const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

interface Outcome { model: string; predicted?: Predicted; error?: string }
const outcomes = new WeakMap<Blob, Outcome>();  // what a photo was predicted as, so that nothing is sent again when the view comes back

async function predict(photo: Blob, model: string): Promise<Outcome> {
  const known = outcomes.get(photo);
  if (known && (known.error || known.model === model)) return known;  // what cannot be read cannot be read by another model either
  let predicted: Predicted | undefined;
  const reason = photo.size > MOST_BYTES ? "It is larger than 60 MB."
                                         : await wrongWith(async () => { predicted = await post<Predicted>("/api/predict", photo); });
  const outcome = predicted ? { model, predicted } : { model, error: `${nameOf(photo)} could not be read as a photo. ${reason} Choose another file: ${FORMATS}.` };
  outcomes.set(photo, outcome);
  return outcome;
}

// One photo after the other; again whenever there is another model. An entry is null until its photo was looked at.
function useOutcomes(photos: Blob[], model: string): (Outcome | null)[] {
  const [found, setFound] = useState<{ photos: Blob[]; outcomes: (Outcome | null)[] }>({ photos: [], outcomes: [] });
  useEffect(() => {
    if (!model) { setFound({ photos, outcomes: [] }); return; }  // another project, without one
    let live = true;
    void (async () => {
      for (const [index, photo] of photos.entries()) {
        const outcome = await predict(photo, model);
        if (!live) return;
        setFound((old) => {
          const next = old.photos === photos ? [...old.outcomes] : photos.map(() => null);
          next[index] = outcome;
          return { photos, outcomes: next };
        });
      }
    })();
    return () => { live = false; };
  }, [photos, model]);
  return photos.map((_, index) => (found.photos === photos ? found.outcomes[index] ?? null : null));
}

// Addresses of the photos on this page, as long as they are shown.
function useAddresses(photos: Blob[]): string[] {
  const [made, setMade] = useState<{ photos: Blob[]; addresses: string[] }>({ photos: [], addresses: [] });
  useEffect(() => {
    const addresses = photos.map((photo) => URL.createObjectURL(photo));
    setMade({ photos, addresses });
    return () => addresses.forEach((address) => URL.revokeObjectURL(address));
  }, [photos]);
  return made.photos === photos ? made.addresses : [];
}

const shortVerdict = ({ label, top, unknown }: Prediction) => (unknown ? "Unknown" : `${label}, ${percent(top[0]?.probability ?? 0)}`);

function summaryOf(found: (Outcome | null)[]): string {
  const done = found.filter((outcome) => outcome !== null);
  const unknown = done.filter((outcome) => outcome.predicted?.prediction.unknown).length;
  const unread = done.filter((outcome) => outcome.error).length;
  const parts = [`${plural(done.length - unknown - unread, "photo")} named`];
  if (unknown) parts.push(`${unknown} unknown`);
  if (unread) parts.push(`${unread} could not be read`);
  return done.length < found.length ? `${done.length} of ${plural(found.length, "photo")}…` : `${parts.join(", ")}.`;
}

interface ListProperties { photos: Blob[]; addresses: string[]; found: (Outcome | null)[]; chosen: number; choose: (index: number) => void }

function TriedList({ photos, addresses, found, chosen, choose }: ListProperties) {
  return (
    <>
      <p class="dim" role="status">{summaryOf(found)}</p>
      <ul class="tried" aria-label="Photos that are tried" onKeyDown={rowKeys}>
        {photos.map((photo, index) => {
          const outcome = found[index];
          return (
            <li key={index} aria-setsize={photos.length} aria-posinset={index + 1}>
              <button type="button" class={outcome?.error ? "tried-photo unread" : "tried-photo"} aria-pressed={index === chosen} tabIndex={index === chosen ? 0 : -1} onClick={() => choose(index)}>
                {addresses[index] && !outcome?.error ? <img src={addresses[index]} alt="" width="40" height="40" /> : <span class="no-photo" aria-hidden="true" />}
                <span class="grow tried-name">{nameOf(photo)}</span>
                <strong>{outcome?.predicted ? shortVerdict(outcome.predicted.prediction) : outcome?.error ? "not read" : "…"}</strong>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Verdict({ prediction, model }: { prediction: Prediction; model: ModelInfo | null | undefined }) {
  const best = prediction.top[0];
  if (!best) return null;
  if (!prediction.unknown) return <><strong>{best.label}</strong> <span class="dim">{percent(best.probability)}</span></>;
  return <><strong>Unknown</strong> <span class="dim">like none of the {model?.classes ?? prediction.top.length} classes; {best.label} comes nearest</span></>;
}

function Rule({ model }: { model: ModelInfo }) {
  return (
    <details class="rule">
      <summary>How this is decided</summary>
      <p>Every photo gets a score for how well it fits the classes at all. The photos of the classes that were held out of training have such scores too,
         and a photo below nearly all of them is called unknown: the limit is set so that {Math.round(100 * model.false_rejection_rate)} of 100 photos
         that do belong to a class are called unknown by mistake.</p>
      <p>The bars answer another question: which class it is if it must be one of them. They always add up to 100 %, so one of them is long even when none fits.</p>
    </details>
  );
}

function Answer({ name, predicted, open }: { name: string; predicted: Predicted; open: (name: string) => void }) {
  const { state } = useShared();
  const { prediction } = predicted;
  const nearest = prediction.explain?.nearest ?? [];
  const photos: ViewedPhoto[] = nearest.map((near) => ({ address: largePhoto(photoOf(near.path)), caption: near.label }));
  const model = state?.model;
  return (
    <>
      <p class="verdict" data-testid="verdict" data-file={name} data-model={predicted.model}><Verdict prediction={prediction} model={model} /></p>
      {!model?.current || predicted.model !== model.number
        ? <p class="dim">From the model before the latest changes; they are being taken in.</p>
        : model.incremental && <p class="dim">The latest changes are in; a full fit, which sets the probabilities, follows.</p>}
      {prediction.unknown && model && <Rule model={model} />}
      {prediction.unknown && <h2 class="sub">If it must be one of the classes</h2>}
      <ul class="bars" aria-label={prediction.unknown ? "Probabilities if it must be one of the classes" : "Probabilities"}>
        {prediction.top.map(({ label, probability }) => (
          <li key={label}>
            <button type="button" class="quiet bar-name" title={`Open ${label}`} onClick={() => open(label)}>{label}</button>
            <span class={prediction.unknown ? "bar faint" : "bar"} aria-hidden="true"><span style={{ width: `${Math.max(0.5, 100 * probability)}%` }} /></span>
            <span class="bar-value">{percent(probability)}</span>
          </li>
        ))}
      </ul>
      {nearest.length > 0 && (
        <>
          <h2 class="sub">Most like these training photos</h2>
          <ul class="near">
            {nearest.map((near, index) => (
              <li key={near.path}>
                <button type="button" class="shot" aria-label={`Enlarge the photo of ${near.label}`} title="Enlarge" onClick={() => viewAll(photos, index)}>
                  <img src={thumbnail(photoOf(near.path))} alt="" width="72" height="72" />
                </button>
                <span>{near.label}</span>
                <span class="dim">{near.cosine.toFixed(2)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

export function Try({ photos, choose, open }: { photos: Blob[]; choose: (photos: Blob[]) => void; open: (name: string) => void }) {
  const { state } = useShared();
  const [over, setOver] = useState(false);
  const [camera, setCamera] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [unshown, setUnshown] = useState<Blob | null>(null);  // a photo of a format that this browser does not show
  const input = useRef<HTMLInputElement>(null);
  const addresses = useAddresses(photos);
  const found = useOutcomes(photos, state?.model?.can_predict ? `${state.id} ${state.model.number}` : "");
  useEffect(() => setChosen(0), [photos]);
  const at = Math.min(chosen, photos.length - 1);
  const photo = photos[at];
  const address = addresses[at];
  const outcome = found[at];
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (event.dataTransfer) void dropped(event.dataTransfer, true).then((all) => { if (all.length) choose(all.map(({ file }) => file)); });
  };
  const captioned = photos.map((one, index) => ({ address: addresses[index] ?? "", caption: nameOf(one) }));
  return (
    <div class="try">
      <div class={over ? "try-area over" : "try-area"} onDragOver={(event) => { event.preventDefault(); event.stopPropagation(); setOver(true); }}
           onDragLeave={() => setOver(false)} onDrop={drop}>
        {photo && address && !outcome?.error && photo !== unshown && (
          <button type="button" class="shot tried-large" aria-label={`Enlarge ${nameOf(photo)}`} title="Enlarge" onClick={() => viewAll(captioned, at)}>
            <img src={address} alt={`The photo to recognise: ${nameOf(photo)}`} onError={() => setUnshown(photo)} />
          </button>
        )}
        {photo && photo === unshown && !outcome?.error && <p class="dim">{nameOf(photo)}: this browser cannot show the format, but the model reads it.</p>}
        {!photo && <p class="big">Drop photos to try the model</p>}
        <div class="buttons center">
          <input ref={input} type="file" accept={ACCEPT} multiple hidden data-testid="pick try"
                 onChange={(event) => { const files = [...(event.currentTarget.files ?? [])]; event.currentTarget.value = ""; if (files.length) choose(files); }} />
          <button type="button" onClick={() => input.current?.click()}>Choose photos…</button>
          <button type="button" onClick={() => setCamera(true)}>Webcam</button>
        </div>
      </div>
      {!state?.model && <p class="dim">There is no model yet: add photos to two classes, and one is learnt by itself.</p>}
      {photos.length > 1 && <TriedList photos={photos} addresses={addresses} found={found} chosen={at} choose={setChosen} />}
      <div aria-live="polite" class="answer">
        {outcome?.error && <p role="alert" class="field-error" data-testid="unread">{outcome.error}</p>}
        {photo && outcome?.predicted && <Answer name={nameOf(photo)} predicted={outcome.predicted} open={open} />}
      </div>
      {camera && <Camera title="Try the webcam" close={() => setCamera(false)} once take={(taken) => choose([taken])} />}
    </div>
  );
}
