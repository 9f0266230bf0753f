// Times jobs named on standard input, one a line, so that a script can interleave them with other programs' jobs:
//   step B R D N NOISE THREADS          seconds of one training step, gradient and Adam together
//   fit N K D R NOISE THREADS           seconds of a whole fit: pre-training, search, final training (paper recipe)
// Each answer is one line with the seconds of wall time.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/trainer.h"

namespace annulus {
namespace {

// Features around class means: `shots` rows of each class.
LabelledRows generated_rows(std::size_t classes, std::size_t shots, std::size_t dimension) {
  LabelledRows rows{Matrix<float>(classes * shots, dimension), {}, classes};
  std::vector<float> mean(dimension);
  for (std::size_t i = 0; i < classes * shots; ++i) {
    const std::size_t label = i / shots;
    rows.labels.push_back(static_cast<std::int32_t>(label));
    fill_gaussian({1, RandomUse::kSynthetic, 0}, label * dimension, mean);
    fill_gaussian({1, RandomUse::kSynthetic, 1}, i * dimension, rows.features.row(i));
    for (std::size_t j = 0; j < dimension; ++j) rows.features(i, j) = mean[j] + 1.5F * rows.features(i, j);
  }
  return rows;
}

double time_step(std::size_t batch, std::size_t virtual_count, std::size_t dimension, std::size_t classes,
                 NoiseSharing sharing, int threads) {
  const auto rows = generated_rows(classes, (batch + classes - 1) / classes, dimension);
  auto training = make_training_rows<float>(rows.features.view(), rows.labels, classes, NoiseShape::kEllipsoidal);
  auto head = initial_head<float>(HeadKind::kCosine, classes, dimension, 0, 0);
  TrainOptions options;
  options.batch = batch;
  options.virtual_count = virtual_count;
  options.epsilon = 2.0;
  options.sharing = sharing;
  options.threads = threads;
  // Steps are timed from one to the next, so that work space is there already; the fastest of the whole batches counts.
  const std::size_t batches = rows.labels.size() / batch;
  options.epochs = 2 + 4 / batches;
  double best = 1e30;
  auto last = std::chrono::steady_clock::now();
  std::size_t steps = 0;
  TrainHooks<float> hooks;
  hooks.after_step = [&](const StepRecord<float>&) {
    const auto now = std::chrono::steady_clock::now();
    if (steps++ > 0) best = std::min(best, std::chrono::duration<double>(now - last).count());
    last = now;
  };
  hooks.order = [&](std::size_t) {
    std::vector<std::uint32_t> order(batches * batch);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    return order;
  };
  train(head, training, options, {}, hooks);
  return best;
}

double time_fit(std::size_t classes, std::size_t shots, std::size_t dimension, std::size_t virtual_count,
                const std::string& noise, int threads) {
  Recipe recipe = recipe_named("paper");
  set_virtual_count(recipe, virtual_count);
  set_noise_sharing(recipe, noise_sharing_from(noise));
  set_threads(recipe, threads);
  return fit_ibm2(generated_rows(classes, shots, dimension), recipe).seconds;
}

double run(const std::string& line) {
  std::istringstream words(line);
  std::string job;
  std::string noise;
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
  std::size_t d = 0;
  int threads = 0;
  if (!(words >> job >> a >> b >> c >> d >> noise >> threads)) {
    fail(ErrorKind::kUsage, "expected \"step B R D N NOISE THREADS\" or \"fit N K D R NOISE THREADS\", found \"{}\"",
         line);
  }
  if (job == "step") return time_step(a, b, c, d, noise_sharing_from(noise), threads);
  if (job == "fit") return time_fit(a, b, c, d, noise, threads);
  fail(ErrorKind::kUsage, "expected a job of step or fit, found \"{}\"", job);
}

}  // namespace
}  // namespace annulus

int main() {
  std::string line;
  try {
    while (std::getline(std::cin, line)) {
      std::printf("%.6f\n", annulus::run(line));
      std::fflush(stdout);
    }
  } catch (const annulus::Error& error) {
    std::fprintf(stderr, "step_timing: %s\n", error.what());
    return 2;
  }
}
