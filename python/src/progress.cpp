// Passes progress on to Python.
#include "python/src/progress.h"

namespace annulus::python {

namespace py = pybind11;

bool Listener::tell(const Progress& progress) {
  const bool last = progress.done == progress.total;
  if (progress.stage == stage_ && !last && now() - told_ < kInterval) return true;
  stage_ = progress.stage;
  told_ = now();
  const py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (heard_.is_none()) return true;
    const py::object answer = heard_(progress.stage, progress.done, progress.total, progress.detail);
    return answer.ptr() != Py_False;
  } catch (const py::error_already_set&) {
    raised_ = std::current_exception();
    return false;
  }
}

}  // namespace annulus::python
