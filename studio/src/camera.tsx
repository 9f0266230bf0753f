// Photos from the webcam: one at a click, or a few a second while the button is held.
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog";

interface Properties { title: string; take: (photo: File) => void; close: () => void; once?: boolean }

export function Camera({ title, take, close, once }: Properties) {
  const video = useRef<HTMLVideoElement>(null);
  const timer = useRef(0);
  const [error, setError] = useState("");
  const [count, setCount] = useState(0);
  useEffect(() => {
    let stream: MediaStream | null = null;
    let gone = false;
    (async () => {
      if (!navigator.mediaDevices) throw new Error("this browser gives pages no camera");
      stream = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 640 } } });
      if (gone) stream.getTracks().forEach((track) => track.stop());
      else if (video.current) video.current.srcObject = stream;
    })().catch((error) => setError(`No camera: ${error instanceof Error ? error.message : error}`));
    return () => {
      gone = true;
      clearInterval(timer.current);
      stream?.getTracks().forEach((track) => track.stop());
    };
  }, []);
  const shoot = () => {
    const element = video.current;
    if (!element?.videoWidth) return;
    const canvas = document.createElement("canvas");
    const side = Math.min(element.videoWidth, element.videoHeight);
    canvas.width = canvas.height = Math.min(side, 480);
    canvas.getContext("2d")?.drawImage(element, (element.videoWidth - side) / 2, (element.videoHeight - side) / 2, side, side,
                                       0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      if (!blob) return;
      setCount((number) => number + 1);
      take(new File([blob], `webcam-${Date.now()}.jpg`, { type: "image/jpeg" }));
      if (once) close();
    }, "image/jpeg", 0.92);
  };
  const hold = () => {
    shoot();
    if (!once) timer.current = window.setInterval(shoot, 300);
  };
  const release = () => clearInterval(timer.current);
  return (
    <Dialog title={title} close={close}>
      {error ? <p role="alert">{error}</p> : <video ref={video} autoPlay playsInline muted class="camera" aria-label="What the camera sees" />}
      <div class="buttons">
        <button type="button" class="primary" disabled={!!error} onPointerDown={hold} onPointerUp={release} onPointerLeave={release}
                onKeyDown={(event) => { if ((event.key === "Enter" || event.key === " ") && !event.repeat) shoot(); }}>
          {once ? "Take a photo" : "Take a photo (hold for more)"}
        </button>
        <button type="button" onClick={close}>Done</button>
        {!once && <span class="dim" aria-live="polite">{count === 0 ? "" : count === 1 ? "1 photo" : `${count} photos`}</span>}
      </div>
    </Dialog>
  );
}
