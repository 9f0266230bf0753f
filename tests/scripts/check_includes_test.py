"""Tests scripts/check-includes on small trees: each violation must be reported, correct code must not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-includes"


def check(files):
    """Exit code and output of the script on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class CheckIncludes(unittest.TestCase):
    def test_correct_code_passes(self):
        code, output = check({
            "annulus/base/parallel.cpp": "#include <thread>\nstd::thread worker;\n",
            "annulus/kernels/gemm.cpp": '#include "hwy/highway.h"\n#include "annulus/base/matrix.h"\n',
            "annulus/store/head_file.cpp": '#include <fstream>\n#include "annulus/learn/head.h"\nauto f = ::open(name, 0);\n',
            "annulus/vision/backbone_session.cpp": "#include <onnxruntime_cxx_api.h>\nauto f = std::fopen(name, mode);\n",
            "annulus/eval/report.cpp": '// std::thread, fopen( and hwy/ in a comment\nauto s = "use std::thread, open(x)";\n'
                                       "reader.open(path); is_open(path); reopen(path);\n",
            "cli/main.cpp": '#include "annulus/store/head_file.h"\n#include "cli/fit.h"\nfmt::print("done");\n',
            "cli/serve.cpp": '#include "server/http_server.h"\n',
            "server/http_server.cpp": '#include <boost/asio/post.hpp>\n#include "annulus/store/model_file.h"\n',
        })
        self.assertEqual(code, 0, output)
        self.assertIn("8 files, 0 violations", output)

    def test_each_violation_is_reported(self):
        violations = {
            "annulus/base/matrix.h": ('#include "annulus/kernels/gemm.h"', "base may not include kernels"),
            "annulus/kernels/adam.cpp": ('#include "annulus/learn/trainer.h"', "kernels may not include learn"),
            "annulus/vision/resize.cpp": ('#include "annulus/store/npz.h"', "vision may not include store"),
            "annulus/store/npz.cpp": ('#include "cli/fit.h"', "store may not include the app cli"),
            "cli/fit.cpp": ('#include "python/module.h"', "cli may not include the app python"),
            "python/module.cpp": ('#include "server/router.h"', "python may not include server"),
            "annulus/store/page.cpp": ('#include "server/router.h"', "store may not include server"),
            "server/answer.cpp": ('#include "cli/command.h"', "server may not include the app cli"),
            "server/print.cpp": ('std::cerr << "no";', "output or exit in the library"),
            "cli/listen.cpp": ("#include <boost/asio/ip/tcp.hpp>", "sockets"),
            "annulus/helpers/text.h": ("int x;", "annulus/helpers is not a room"),
            "annulus/learn/head.cpp": ('#include "hwy/highway.h"', "vector code"),
            "annulus/learn/trainer.cpp": ("#include <oneapi/dnnl/dnnl.hpp>", "oneDNN"),
            "annulus/task/draw.cpp": ("std::thread worker;", "threads belongs in annulus/base/parallel"),
            "annulus/task/episode.cpp": ("std::mt19937 generator;", "random numbers"),
            "annulus/eval/report.cpp": ("std::ofstream file(name);", "file access"),
            "annulus/eval/table.cpp": ("int f = open(name, O_RDONLY);", "file access"),
            "annulus/vision/decode.cpp": ("void* m = ::mmap(0, n, 1, 1, f, 0);", "file access"),
            "annulus/store/model.cpp": ("#include <onnxruntime_c_api.h>", "ONNX Runtime"),
            "annulus/store/net.cpp": ("#include <sys/socket.h>", "sockets"),
            "cli/py.cpp": ("#include <pybind11/pybind11.h>", "Python"),
            "annulus/eval/print.cpp": ('std::cerr << "no";', "output or exit in the library"),
            "annulus/eval/leave.cpp": ("std::exit(1);", "output or exit in the library"),
        }
        code, output = check({path: text + "\n" for path, (text, _) in violations.items()})
        self.assertEqual(code, 1, output)
        for path, (_, message) in violations.items():
            self.assertTrue(any(line.startswith(f"{path}:1: ") and message in line for line in output.splitlines()),
                            f"{path}: expected '{message}' in\n{output}")
        self.assertIn(f"{len(violations)} violations", output)

    def test_an_empty_tree_is_an_error(self):
        code, output = check({"README.md": "nothing\n"})
        self.assertNotEqual(code, 0)
        self.assertIn("no C++ file", output)


unittest.main()
