"""How far long work is: a callable of the user's, a tqdm bar, or a line on standard error."""
import sys


def listener(verbose, progress):
    """What the library is to tell; None for nobody."""
    if progress is not None:
        if not callable(progress):
            raise TypeError(f"progress expects a callable of (stage, done, total, detail), found {progress!r}")
        return progress
    if not verbose:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return Bar(tqdm)


class Bar:
    """A tqdm bar for each stage."""

    def __init__(self, tqdm):
        self.tqdm, self.stage, self.bar = tqdm, None, None

    def __call__(self, stage, done, total, detail):
        if stage != self.stage:
            if self.bar is not None:
                self.bar.close()
            self.stage, self.bar = stage, self.tqdm(total=total or None, desc=stage)
        self.bar.total = total or None
        self.bar.n = done
        self.bar.set_postfix_str(detail, refresh=False)
        self.bar.refresh()
        if total and done == total:
            self.bar.close()
        return True


class Line:
    """One line that is written over, where there is no tqdm."""

    def __init__(self, stream=None):
        self.stream = sys.stderr if stream is None else stream
        self.width = 0

    def __call__(self, stage, done, total, detail):
        fraction = f" {100 * done // total} %" if total else ""
        text = f"{stage}{fraction} {detail}".rstrip()
        end = "\n" if total and done == total else ""
        self.stream.write("\r" + text.ljust(self.width) + end)
        self.stream.flush()
        self.width = 0 if end else len(text)
        return True
