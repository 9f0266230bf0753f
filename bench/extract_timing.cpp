// extract_timing BACKBONE IMAGES [COUNT [ROUNDS [THREADS]]]: images a second of extract() (read, decode, prepare,
// encode, store) against ONNX Runtime alone on ready tensors, in turn, medians of the rounds. A ratio compares
// extract() with the faster of the two ways of running the network in the same round, by the wall clock and by
// processor time, so that other work on the machine falls on both. BACKBONE is a name or an ONNX file, IMAGES an image
// folder. Prints a line of JSON.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/pipeline/extract.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/backbone/onnx_session.h"

namespace {

using namespace annulus;

struct Cost {
  double wall = 0;
  double processor = 0;  // seconds of all threads: what a busy machine does not change
};

template <class Work>
Cost cost_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Images a second by the wall clock.
double rate(const std::vector<Cost>& costs, std::size_t images) {
  std::vector<double> rates;
  for (const Cost& cost : costs) rates.push_back(static_cast<double>(images) / cost.wall);
  return median(std::move(rates));
}

// Cost of the faster way over cost of the whole in each round; 1 is as fast as the network alone.
std::string ratios(const std::vector<Cost>& whole, const std::vector<Cost>& one_session,
                   const std::vector<Cost>& own_threads, double Cost::*clock) {
  std::vector<double> values;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    values.push_back(std::min(one_session[i].*clock, own_threads[i].*clock) / (whole[i].*clock));
  }
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  return fmt::format(R"({{"median": {:.3f}, "lowest": {:.3f}, "highest": {:.3f}}})", median(values), *lowest, *highest);
}

int run(int count, char** words) {
  const auto number = [&](int index, int fallback) { return count > index ? std::atoi(words[index]) : fallback; };
  const ResolvedBackbone resolved = resolve_backbone(words[1]);
  const Backbone backbone(resolved.file);
  const PreprocessRecipe recipe = choose_recipe(backbone);
  ImageList list = list_images(words[2]);
  const auto images = std::min<std::size_t>(list.paths.size(), static_cast<std::size_t>(number(3, 64)));
  const int threads = number(5, 0) > 0 ? number(5, 0) : hardware_threads();
  list.paths.resize(images);
  list.labels.clear();
  list.is_train.clear();
  list.class_names.clear();

  Matrix<float> ready(images, recipe.output_size());
  for (std::size_t i = 0; i < images; ++i) write_network_input(read_image(list.paths[i]), recipe, ready.row(i));
  const OnnxSession together(resolved.file, threads);
  constexpr std::size_t kBatch = 16;

  const auto folder = std::filesystem::temp_directory_path() / ("annulus_extract_timing_" + std::to_string(getpid()));
  std::vector<Cost> whole;
  std::vector<Cost> one_session;
  std::vector<Cost> own_threads;
  for (int round = 0; round < number(4, 5); ++round) {
    std::filesystem::remove_all(folder);
    ExtractOptions options;
    options.threads = threads;
    options.cache = folder / "cache";
    std::filesystem::create_directories(folder);
    whole.push_back(cost_of([&] { extract(list, backbone, recipe, options, folder / "features.safetensors"); }));
    one_session.push_back(cost_of([&] {
      for (std::size_t first = 0; first < images; first += kBatch) {
        const std::size_t rows = std::min(kBatch, images - first);
        const std::int64_t shape[] = {static_cast<std::int64_t>(rows), 3,
                                      static_cast<std::int64_t>(recipe.output_height()),
                                      static_cast<std::int64_t>(recipe.output_width())};
        together.run({ready.row(first).data(), rows * recipe.output_size()}, shape, 0);
      }
    }));
    own_threads.push_back(cost_of([&] {
      Matrix<float> rows(images, backbone.dimension());
      backbone.run(ready.view(), recipe.output_height(), recipe.output_width(), rows.view(), threads);
    }));
  }
  std::filesystem::remove_all(folder);
  const std::string line = fmt::format(
      R"({{"backbone": "{}", "images": {}, "rounds": {}, "threads": {}, "extract": {:.2f}, "runtime_batch_16": {:.2f}, )"
      R"("runtime_batch_1": {:.2f}, "ratio": {}, "processor_ratio": {}}})",
      resolved.name, images, whole.size(), threads, rate(whole, images), rate(one_session, images),
      rate(own_threads, images), ratios(whole, one_session, own_threads, &Cost::wall),
      ratios(whole, one_session, own_threads, &Cost::processor));
  std::puts(line.c_str());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: extract_timing BACKBONE IMAGES [COUNT [ROUNDS [THREADS]]]\n", stderr);
    return 2;
  }
  try {
    return run(count, words);
  } catch (const annulus::Error& error) {
    std::fprintf(stderr, "extract_timing: %s\n", error.what());
    return 1;
  }
}
