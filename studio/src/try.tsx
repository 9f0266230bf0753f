// Try the model on a photo: label, probabilities, "unknown", and the training photos most like it.
import { useEffect, useRef, useState } from "preact/hooks";
import { post, Prediction, thumbnail } from "./api";
import { Camera } from "./camera";
import { dropped, picked } from "./files";
import { useShared } from "./store";

const percent = (share: number) => (share > 0.995 && share < 1 ? "> 99 %" : `${Math.round(100 * share)} %`);

export function Try({ photo, choose, open }: { photo: Blob | null; choose: (photo: Blob) => void; open: (name: string) => void }) {
  const { state } = useShared();
  const [address, setAddress] = useState("");
  const [prediction, setPrediction] = useState<(Prediction & { file: string }) | null>(null);
  const [trouble, setTrouble] = useState("");
  const [over, setOver] = useState(false);
  const [camera, setCamera] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!photo) return;
    const made = URL.createObjectURL(photo);
    setAddress(made);
    setPrediction(null);
    return () => URL.revokeObjectURL(made);
  }, [photo]);
  // Asked again whenever there is another model.
  const model = state?.model?.answers ? `${state.id} ${state.model.number}` : "";
  useEffect(() => {
    if (!model) setPrediction(null);  // another project, without one
    if (!photo || !model) return;
    let live = true;
    post<Prediction>("/api/predict", photo)
      .then((answer) => { if (live) { setPrediction({ ...answer, file: photo instanceof File ? photo.name : "" }); setTrouble(""); } })
      .catch((error) => { if (live) { setPrediction(null); setTrouble(error instanceof Error ? error.message : String(error)); } });
    return () => { live = false; };
  }, [photo, model]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (event.dataTransfer) void dropped(event.dataTransfer).then((found) => { if (found[0]) choose(found[0].file); });
  };
  const best = prediction?.top[0];
  return (
    <div class="try">
      <div class={over ? "try-area over" : "try-area"} onDragOver={(event) => { event.preventDefault(); event.stopPropagation(); setOver(true); }}
           onDragLeave={() => setOver(false)} onDrop={drop}>
        {address ? <img src={address} alt="The photo to recognise" /> : <p class="big">Drop a photo to try the model</p>}
        <div class="buttons center">
          <input ref={input} type="file" accept="image/jpeg,image/png,image/webp" hidden data-testid="pick try"
                 onChange={(event) => { const found = picked(event.currentTarget.files); event.currentTarget.value = ""; if (found[0]) choose(found[0].file); }} />
          <button type="button" onClick={() => input.current?.click()}>Choose a photo…</button>
          <button type="button" onClick={() => setCamera(true)}>Webcam</button>
        </div>
      </div>
      {!state?.model && <p class="dim">There is no model yet: add photos to two classes, and one is learnt by itself.</p>}
      {trouble && <p role="alert" class="bad">{trouble}</p>}
      <div aria-live="polite" class="answer">
        {prediction && best && (
          <>
            <p class="verdict" data-testid="verdict" data-file={prediction.file} data-model={prediction.model}>
              {prediction.unknown
                ? <><strong>Unknown</strong> <span class="dim">nothing it has learnt; nearest is {best.name}</span></>
                : <><strong>{best.name}</strong> <span class="dim">{percent(best.probability)}</span></>}
            </p>
            {!state?.model?.current || prediction.model !== state.model.number
              ? <p class="dim">From the model before the latest changes; they are being taken in.</p>
              : !state.model.thorough && <p class="dim">The latest changes are in; probabilities are set when all classes have been gone over once more.</p>}
            <ul class="bars" aria-label="Probabilities">
              {prediction.top.map(({ name, probability }) => (
                <li key={name}>
                  <button type="button" class="quiet bar-name" onClick={() => open(name)}>{name}</button>
                  <span class="bar" aria-hidden="true"><span style={{ width: `${Math.max(0.5, 100 * probability)}%` }} /></span>
                  <span class="bar-value">{percent(probability)}</span>
                </li>
              ))}
            </ul>
            {prediction.nearest.length > 0 && (
              <>
                <h2 class="sub">Most like these training photos</h2>
                <ul class="near">
                  {prediction.nearest.map((near) => (
                    <li key={near.photo}>
                      <img src={thumbnail(near.photo)} alt="" width="72" height="72" />
                      <span>{near.name}</span>
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
