// From photos to features, as a timing program (job_loop.h). Jobs, a line each:
//   open BACKBONE FOLDER COUNT   the network (a name or an ONNX file) and the first COUNT photos of FOLDER from now on
//   extract THREADS              extract(): read, decode, prepare, encode, store, into an empty cache
//   together THREADS BATCH       the network alone on ready tensors: one session of THREADS threads, BATCH images a run
//   apart THREADS                the same with an image on each thread at a time
//   prepare THREADS              reading, decoding and preparing alone
//   limit THREADS                what the processors compute at most (machine_limit.h)
// Answers have the seconds and the processor seconds of all threads.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/pipeline/extract.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/backbone/onnx_session.h"
#include "annulus/vision/preprocess/preprocess.h"
#include "bench/job_loop.h"
#include "bench/machine_limit.h"

namespace {

using namespace annulus;

template <class Work>
std::string timed(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  return fmt::format(R"({{"seconds": {}, "processor": {}}})",
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                     static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
}

struct Opened {
  ResolvedBackbone resolved;
  Backbone backbone;
  PreprocessRecipe recipe;
  ImageList list;
  Matrix<float> ready;
  std::map<int, std::unique_ptr<OnnxSession>> together;  // by threads

  Opened(const std::string& name, const std::string& folder, std::size_t count)
      : resolved(resolve_backbone(name)), backbone(resolved.file), recipe(choose_recipe(backbone)) {
    list.paths = list_images(folder).paths;
    list.paths.resize(std::min(list.paths.size(), count));
    ready = Matrix<float>(list.paths.size(), recipe.output_size());
    for (std::size_t i = 0; i < list.paths.size(); ++i) {
      write_network_input(read_image(list.paths[i]), recipe, ready.row(i));
    }
  }
};

std::string run_extract(Opened& opened, int threads) {
  const auto folder = std::filesystem::temp_directory_path() / ("annulus_extract_timing_" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ExtractOptions options;
  options.threads = threads;
  options.cache = folder / "cache";
  std::string answer =
      timed([&] { extract(opened.list, opened.backbone, opened.recipe, options, folder / "features.safetensors"); });
  std::filesystem::remove_all(folder);
  return answer;
}

std::string run_together(Opened& opened, int threads, std::size_t batch) {
  auto& session = opened.together[threads];
  if (!session) session = std::make_unique<OnnxSession>(opened.resolved.file, threads);
  const std::size_t images = opened.ready.rows();
  return timed([&] {
    for (std::size_t first = 0; first < images; first += batch) {
      const std::size_t rows = std::min(batch, images - first);
      const std::int64_t shape[] = {static_cast<std::int64_t>(rows), 3,
                                    static_cast<std::int64_t>(opened.recipe.output_height()),
                                    static_cast<std::int64_t>(opened.recipe.output_width())};
      session->run({opened.ready.row(first).data(), rows * opened.recipe.output_size()}, shape, 0);
    }
  });
}

std::string run_apart(Opened& opened, int threads) {
  Matrix<float> rows(opened.ready.rows(), opened.backbone.dimension());
  return timed([&] {
    opened.backbone.run(opened.ready.view(), opened.recipe.output_height(), opened.recipe.output_width(), rows.view(),
                        threads);
  });
}

std::string run_prepare(Opened& opened, int threads) {
  return timed([&] {
    parallel_for(threads, opened.list.paths.size(), [&](std::size_t i) {
      const std::string& path = opened.list.paths[i];
      write_network_input(load_image_bytes(path, decode_options(opened.recipe).limits.max_bytes), path, opened.recipe,
                          opened.ready.row(i));
    });
  });
}

std::string run_limit(int threads) {
  const MachineLimit limit = measure_limit(threads);
  return fmt::format(R"({{"float32": {}, "float32_by": "{}", "int8": {}, "int8_by": "{}", "int8_tiles": {}}})",
                     limit.float32, limit.float32_by, limit.int8, limit.int8_by, limit.int8_tiles);
}

}  // namespace

int main() {
  std::unique_ptr<Opened> opened;
  const auto current = [&]() -> Opened& {
    if (!opened) fail(ErrorKind::kUsage, "expected the job open before all others");
    return *opened;
  };
  Jobs jobs;
  jobs["open"] = [&](JobWords& words) {
    const auto name = words.next<std::string>("a network");
    const auto folder = words.next<std::string>("a folder");
    opened = std::make_unique<Opened>(name, folder, words.count("a number of photos"));
    return fmt::format(R"({{"images": {}, "dimension": {}, "engine": "{}"}})", opened->ready.rows(),
                       opened->backbone.dimension(), opened->backbone.engine());
  };
  jobs["extract"] = [&](JobWords& words) { return run_extract(current(), words.threads()); };
  jobs["together"] = [&](JobWords& words) {
    const int threads = words.threads();
    return run_together(current(), threads, words.count("images of a batch"));
  };
  jobs["apart"] = [&](JobWords& words) { return run_apart(current(), words.threads()); };
  jobs["prepare"] = [&](JobWords& words) { return run_prepare(current(), words.threads()); };
  jobs["limit"] = [&](JobWords& words) { return run_limit(words.threads()); };
  return run_jobs("extract_timing", jobs);
}
