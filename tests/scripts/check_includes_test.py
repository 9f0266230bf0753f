"""Tests scripts/check-includes on small trees: each violation must be reported, correct code must not."""
import unittest

from small_tree import run_check


def check(files):
    return run_check("check-includes", files)


class CheckIncludes(unittest.TestCase):
    def test_correct_code_passes(self):
        code, output = check({
            "annulus/base/parallel.cpp": "#include <thread>\nstd::thread worker;\n",
            "annulus/kernels/gemm.cpp": '#include "hwy/highway.h"\n#include "annulus/base/matrix.h"\n',
            "annulus/store/head_file.cpp": '#include <fstream>\n#include "annulus/learn/method/head.h"\nauto f = ::open(name, 0);\n',
            "annulus/vision/backbone/session.cpp": "#include <onnxruntime_cxx_api.h>\nauto f = std::fopen(name, mode);\n",
            "annulus/report/tables/protocol_report.cpp": '// std::thread, fopen( and hwy/ in a comment\nauto s = "use std::thread, open(x)";\n'
                                       "reader.open(path); is_open(path); reopen(path);\n",
            "cli/main.cpp": '#include "annulus/store/head_file.h"\n#include "cli/fit.h"\nfmt::print("done");\n',
            "annulus/report/plot/svg_canvas.cpp": 'auto c = "--ink"; // of a style sheet\n',
            "annulus/learn/calibration/held_out.cpp": 'for (; i > 0; --i) call("a", --left); // what --lr sets\n',
            "cli/fit.cpp": 'command.add_option("--lr", rate);\n',
            "cli/serve.cpp": '#include "server/http/http_server.h"\n',
            "server/http/http_server.cpp": '#include <boost/asio/post.hpp>\n#include "annulus/store/models/model_file.h"\n',
        })
        self.assertEqual(code, 0, output)
        self.assertIn("11 files, 0 violations", output)

    def test_each_violation_is_reported(self):
        violations = {
            "annulus/base/matrix.h": ('#include "annulus/kernels/gemm.h"', "base may not include kernels"),
            "annulus/kernels/adam.cpp": ('#include "annulus/learn/method/trainer.h"', "kernels may not include learn"),
            "annulus/vision/resize.cpp": ('#include "annulus/store/formats/npz.h"', "vision may not include store"),
            "annulus/vision/graph.cpp": ('#include "annulus/learn/model/model.h"', "vision may not include learn"),
            "annulus/learn/model/show.cpp": ('#include "annulus/annulus.h"', "learn may not include facade"),
            "studio_engine/page.cpp": ('#include "server/http/router.h"', "studio_engine may not include server"),
            "annulus/pipeline/photos.cpp": ('#include "studio_engine/studio.h"', "pipeline may not include studio_engine"),
            "mpi/module.cpp": ('#include "annulus/learn/method/head.h"', "mpi may not include learn"),
            "annulus/store/formats/npz.cpp": ('#include "cli/fit.h"', "store may not include the app cli"),
            "cli/fit.cpp": ('#include "python/module.h"', "cli may not include the app python"),
            "python/module.cpp": ('#include "server/http/router.h"', "python may not include server"),
            "annulus/store/page.cpp": ('#include "server/http/router.h"', "store may not include server"),
            "server/start.cpp": ("#include <spawn.h>", "other processes belongs in"),
            "server/confine.cpp": ("#include <seccomp.h>", "filters of system calls belongs in server/decode/sandbox"),
            "server/answer.cpp": ('#include "cli/command.h"', "server may not include the app cli"),
            "server/print.cpp": ('std::cerr << "no";', "output or exit in the library"),
            "cli/listen.cpp": ("#include <boost/asio/ip/tcp.hpp>", "sockets"),
            "annulus/helpers/text.h": ("int x;", "annulus/helpers is not a room"),
            "annulus/learn/method/head.cpp": ('#include "hwy/highway.h"', "vector code"),
            "annulus/learn/method/trainer.cpp": ("#include <oneapi/dnnl/dnnl.hpp>", "oneDNN"),
            "annulus/task/draw.cpp": ("std::thread worker;", "threads belongs in annulus/base/parallel"),
            "annulus/task/episode.cpp": ("std::mt19937 generator;", "random numbers"),
            "annulus/report/tables/protocol_report.cpp": ("std::ofstream file(name);", "file access"),
            "annulus/eval/table.cpp": ("int f = open(name, O_RDONLY);", "file access"),
            "annulus/vision/decode.cpp": ("void* m = ::mmap(0, n, 1, 1, f, 0);", "file access"),
            "annulus/store/model.cpp": ("#include <onnxruntime_c_api.h>", "ONNX Runtime"),
            "annulus/store/page_of.cpp": ("#include <curl/curl.h>", "the HTTP client (libcurl) belongs in annulus/pipeline/download/http_download"),
            "annulus/store/net.cpp": ("#include <sys/socket.h>", "sockets"),
            "cli/py.cpp": ("#include <pybind11/pybind11.h>", "Python"),
            "annulus/eval/print.cpp": ('std::cerr << "no";', "output or exit in the library"),
            "annulus/eval/leave.cpp": ("std::exit(1);", "output or exit in the library"),
            "annulus/learn/method/recipe_options.cpp": ('fail(kind, "try a smaller --lr");', "a command-line flag in the library"),
            "studio_engine/train.cpp": ('fail(kind, "fit it without --strip");', "a command-line flag in the library"),
            "server/predict/body.cpp": ('fail(kind, "--top expects a number");', "a command-line flag in the library"),
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
