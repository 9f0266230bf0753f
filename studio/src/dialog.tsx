// Dialogs on the browser's own <dialog>: focus stays inside, Escape closes, focus returns.
import { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons";

interface Properties { title: string; close: () => void; children: ComponentChildren; wide?: boolean }

export function Dialog({ title, close, children, wide }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} class={wide ? "wide" : ""} aria-label={title} onClose={close}
            onClick={(event) => { if (event.target === element.current) close(); }}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={close}><Icon name="close" /></button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface NameProperties { title: string; label: string; value?: string; action: string; done: (name: string) => void; close: () => void }

export function NameDialog({ title, label, value = "", action, done, close }: NameProperties) {
  const [name, setName] = useState(value);
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim()) done(name.trim());
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit} class="stack">
        <label>{label}
          <input value={name} maxLength={100} autoFocus onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="submit" class="primary" disabled={!name.trim()}>{action}</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
