// Try the model on a photo: label, probabilities, "unknown", and the training photos most like it.
import { useEffect, useRef, useState } from "preact/hooks";
import { post, Predicted, thumbnail } from "./api";
import { Camera } from "./camera";
import { ACCEPT, dropped, picked } from "./files";
import { useShared } from "./store";

// A photo of the project is stored under its identifier.
const photoOf = (path: string) => path.replace(/^.*\//, "").replace(/\.[^.]*$/, "");
const percent = (fraction: number) => (fraction > 0.995 && fraction < 1 ? "> 99 %" : `${Math.round(100 * fraction)} %`);

export function Try({ photo, choose, open }: { photo: Blob | null; choose: (photo: Blob) => void; open: (name: string) => void }) {
  const { state } = useShared();
  const [address, setAddress] = useState("");
  const [predicted, setPredicted] = useState<(Predicted & { file: string }) | null>(null);
  const [error, setError] = useState("");
  const [over, setOver] = useState(false);
  const [camera, setCamera] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!photo) return;
    const made = URL.createObjectURL(photo);
    setAddress(made);
    setPredicted(null);
    return () => URL.revokeObjectURL(made);
  }, [photo]);
  // Sent again whenever there is another model.
  const model = state?.model?.can_predict ? `${state.id} ${state.model.number}` : "";
  useEffect(() => {
    if (!model) setPredicted(null);  // another project, without one
    if (!photo || !model) return;
    let live = true;
    post<Predicted>("/api/predict", photo)
      .then((answer) => { if (live) { setPredicted({ ...answer, file: photo instanceof File ? photo.name : "" }); setError(""); } })
      .catch((error) => { if (live) { setPredicted(null); setError(error instanceof Error ? error.message : String(error)); } });
    return () => { live = false; };
  }, [photo, model]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (event.dataTransfer) void dropped(event.dataTransfer).then((found) => { if (found[0]) choose(found[0].file); });
  };
  const prediction = predicted?.prediction;
  const best = prediction?.top[0];
  const nearest = prediction?.explain?.nearest ?? [];
  return (
    <div class="try">
      <div class={over ? "try-area over" : "try-area"} onDragOver={(event) => { event.preventDefault(); event.stopPropagation(); setOver(true); }}
           onDragLeave={() => setOver(false)} onDrop={drop}>
        {address ? <img src={address} alt="The photo to recognise" /> : <p class="big">Drop a photo to try the model</p>}
        <div class="buttons center">
          <input ref={input} type="file" accept={ACCEPT} hidden data-testid="pick try"
                 onChange={(event) => { const found = picked(event.currentTarget.files); event.currentTarget.value = ""; if (found[0]) choose(found[0].file); }} />
          <button type="button" onClick={() => input.current?.click()}>Choose a photo…</button>
          <button type="button" onClick={() => setCamera(true)}>Webcam</button>
        </div>
      </div>
      {!state?.model && <p class="dim">There is no model yet: add photos to two classes, and one is learnt by itself.</p>}
      {error && <p role="alert" class="bad">{error}</p>}
      <div aria-live="polite" class="answer">
        {predicted && prediction && best && (
          <>
            <p class="verdict" data-testid="verdict" data-file={predicted.file} data-model={predicted.model}>
              {prediction.unknown
                ? <><strong>Unknown</strong> <span class="dim">none of the classes; nearest is {best.label}</span></>
                : <><strong>{best.label}</strong> <span class="dim">{percent(best.probability)}</span></>}
            </p>
            {!state?.model?.current || predicted.model !== state.model.number
              ? <p class="dim">From the model before the latest changes; they are being taken in.</p>
              : state.model.incremental && <p class="dim">The latest changes are in; a full fit, which sets the probabilities, follows.</p>}
            <ul class="bars" aria-label="Probabilities">
              {prediction.top.map(({ label, probability }) => (
                <li key={label}>
                  <button type="button" class="quiet bar-name" onClick={() => open(label)}>{label}</button>
                  <span class="bar" aria-hidden="true"><span style={{ width: `${Math.max(0.5, 100 * probability)}%` }} /></span>
                  <span class="bar-value">{percent(probability)}</span>
                </li>
              ))}
            </ul>
            {nearest.length > 0 && (
              <>
                <h2 class="sub">Most like these training photos</h2>
                <ul class="near">
                  {nearest.map((near) => (
                    <li key={near.path}>
                      <img src={thumbnail(photoOf(near.path))} alt="" width="72" height="72" />
                      <span>{near.label}</span>
                      <span class="dim">{near.cosine.toFixed(2)}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )}
      </div>
      {camera && <Camera title="Try the webcam" close={() => setCamera(false)} once take={choose} />}
    </div>
  );
}
